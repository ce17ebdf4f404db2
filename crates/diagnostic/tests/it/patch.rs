//! Patches, really applied.

use metier_diagnostic::Diff;
use metier_testkit::Workspace;
use std::path::Path;
use std::process::Command;

/// Pairs in which something is odd about the ends, the lines or what is in them.
pub(crate) const PAIRS: &[(&str, &str)] = &[
    ("a\nb\nc\n", "a\nB\nc\n"),
    ("a\nb", "a\nB"),
    ("a\nb", "a\nb\n"),
    ("a\nb\n", "a\nb"),
    ("a\r\nb\r\n", "a\nb\n"),
    ("a\rb\n", "a\rc\n"),
    ("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n12\n"),
    ("--- a/x\n+++ b/x\n", "--- b/x\n@@ -1 +1 @@\n"),
    ("é\u{1b}[2K\u{202e}\u{feff}\u{2028}\u{85}x\n", "ü\n"),
    ("", "new\n"),
    ("a\n", ""),
];

/// Applies the patch to a real file, and says nothing where git is missing.
pub(crate) fn applied(path: &str, before: &str, after: &str) -> Option<String> {
    let workspace = Workspace::new().file(path, before);
    let workspace = workspace.file("change.patch", Diff::new(Path::new(path), before, after).patch());
    let git = |arguments: &[&str]| {
        // The temporary folder may lie in somebody's repository, whose settings are none of ours.
        let mut command = Command::new("git");
        command.current_dir(workspace.path()).env("GIT_CEILING_DIRECTORIES", workspace.path());
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env_remove("GIT_DIR");
        command.args(["-c", "core.autocrlf=false"]).args(arguments).output()
    };
    if git(&["--version"]).is_err() {
        eprintln!("git is not installed: no patch was applied");
        return None;
    }
    let arguments = ["apply", "--check", "--whitespace=nowarn", "change.patch"];
    for arguments in [&arguments[..], &["apply", "--whitespace=nowarn", "change.patch"]] {
        let output = git(arguments).expect("git runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{path:?} {before:?} to {after:?}: {said}");
    }
    let text = std::fs::read(workspace.join(path)).expect("the file is still there");
    Some(String::from_utf8(text).expect("the file is text"))
}

#[test]
fn git_applies_every_patch() {
    for (before, after) in PAIRS {
        if let Some(text) = applied("skills/pdf/SKILL.md", before, after) {
            assert_eq!(text, *after, "from {before:?}");
        }
    }
}

#[test]
fn git_finds_files_of_odd_names() {
    for path in ["a b/SKILL.md", "ü/日本.md", "q\"uo\\te.md", "line\nbreak", "tab\there", "\u{202e}x", " x "]
    {
        if let Some(text) = applied(path, "a\n", "b\n") {
            assert_eq!(text, "b\n", "{path:?}");
        }
    }
}
