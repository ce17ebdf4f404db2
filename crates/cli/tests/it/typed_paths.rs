//! Paths and globs on the command line mean what they mean in the current folder.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use metier_testkit::Workspace;

use crate::binary::{Run, command};

/// A project with a folder in it, and a skill that runs its first argument where it is started.
fn machine() -> Workspace {
    Workspace::new()
        .file("home/.agents/skills/sh/SKILL.md", "---\nname: sh\ndescription: Runs a line.\n---\nRun it.\n")
        .file("home/.agents/skills/sh/scripts/run.sh", "eval \"$1\"\n")
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .dir("project/.git")
        .dir("project/sub")
        .symlink("link", "project")
}

/// Runs `metier ARGS…` in a folder of the project.
fn metier_in(workspace: &Workspace, folder: &str, args: &[&str]) -> Run {
    let folder = workspace.join("project").join(folder);
    let output = command(workspace, args).current_dir(folder).output().unwrap();
    Run {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap(),
    }
}

fn pending(workspace: &Workspace, line: &str) {
    let run = metier_in(workspace, "sub", &["exec", "sh", "run.sh", "--", line]);
    assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
}

#[test]
fn a_path_of_a_set_is_seen_from_the_current_folder() {
    let all = ["../same", "same", "../g", "d/e"];
    let expect = |typed: &str| match typed {
        "same" | "./same" | "../sub/same" => "sub/same",
        "../same" => "same",
        "d" | "d/" | "d/e" => "sub/d/e",
        _ => "g",
    };
    for typed in ["same", "./same", "../sub/same", "../same", "d", "d/", "d/e", "../g", "ABSOLUTE", "LINKED"]
    {
        let workspace = machine();
        pending(&workspace, "mkdir d; for path in ../same same ../g d/e; do echo 1 > $path; done");
        let absolute = workspace.join("project/g").display().to_string();
        let linked = workspace.join("link/g").display().to_string();
        let typed = match typed {
            "ABSOLUTE" => &absolute,
            "LINKED" => &linked,
            typed => typed,
        };
        let run = metier_in(&workspace, "sub", &["changes", "apply", "last", typed, "--yes"]);
        assert_eq!(run.code, 0, "{typed}: {}{}", run.stdout, run.stderr);
        for path in all {
            let path = workspace.join("project/sub").join(path);
            let is_meant = fs::canonicalize(&path)
                .is_ok_and(|path| path == workspace.join("project").join(expect(typed)));
            assert_eq!(path.exists(), is_meant, "{typed}: {}", path.display());
        }
    }
}

#[test]
fn the_current_folder_is_everything_in_it() {
    let workspace = machine();
    pending(&workspace, "echo 1 > ../a; echo 1 > b; echo 1 > c");
    let run = metier_in(&workspace, "sub", &["changes", "apply", "last", ".", "--yes"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let exists = |path: &str| workspace.join("project").join(path).exists();
    assert!(exists("sub/b") && exists("sub/c") && !exists("a"));
    let run = metier_in(&workspace, "", &["changes", "apply", "last", ".", "--yes"]);
    assert!(run.code == 0 && exists("a"), "{}", run.stderr);
}

#[test]
fn a_path_that_means_nothing_is_an_error_that_says_what_it_would_be() {
    let workspace = machine();
    pending(&workspace, "echo 1 > f");
    let said = |typed: &str| {
        let run = metier_in(&workspace, "sub", &["changes", "apply", "last", typed, "--yes"]);
        assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
        run.stderr
    };
    let outside = said("../../elsewhere");
    assert!(outside.contains("is not a path inside") && outside.contains("/project"), "{outside}");
    // As the list shows it.
    let listed = said("sub/f");
    assert!(
        listed.contains("`sub/sub/f` is not among the changes") && listed.contains("write `f`"),
        "{listed}"
    );
    let shown = metier_in(&workspace, "sub", &["changes", "show", "last", "f"]);
    assert!(shown.code == 0 && shown.stdout.contains("sub/f"), "{}{}", shown.stdout, shown.stderr);
}

#[test]
fn a_protected_path_is_named_as_it_is_typed() {
    let workspace = machine();
    pending(&workspace, "echo 1 > ../.envrc; echo 1 > .envrc");
    let run = metier_in(&workspace, "sub", &["changes", "apply", "last", "--yes"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.contains("--protected '../.envrc' --protected '.envrc'"), "{}", run.stderr);
    let named = ["changes", "apply", "last", "--yes", "--protected", "../.envrc", "--protected", ".envrc"];
    let run = metier_in(&workspace, "sub", &named);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(workspace.join("project/.envrc").exists() && workspace.join("project/sub/.envrc").exists());
}

#[test]
fn a_name_that_is_not_text_can_be_typed() {
    let workspace = machine();
    pending(&workspace, "printf 1 > $'b\\xff'; printf 1 > $'b\\xfe'");
    let name = OsStr::from_bytes(b"b\xff");
    let mut apply = command(&workspace, &["changes", "apply", "last"]);
    let output = apply.arg(name).arg("--yes").current_dir(workspace.join("project/sub")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(workspace.join("project/sub").join(name).exists());
    assert!(!workspace.join("project/sub").join(OsStr::from_bytes(b"b\xfe")).exists());
}

#[test]
fn what_may_be_written_is_seen_from_the_current_folder() {
    let line = "echo 1 > f2; echo 1 > ../f2; mkdir -p d ../d; echo 1 > d/x; echo 1 > ../d/x";
    for (globs, expect) in [
        (&["f2"][..], &["sub/f2"][..]),
        (&["./f2"], &["sub/f2"]),
        (&["../f2"], &["f2"]),
        (&["d/**"], &["sub/d/x"]),
        (&["d/"], &["sub/d/x"]),
        (&["**"], &["sub/f2", "sub/d/x"]),
        (&["f2", "../d/**"], &["sub/f2", "d/x"]),
    ] {
        let workspace = machine();
        let mut words = vec!["exec", "sh", "run.sh"];
        for glob in globs {
            words.extend(["--write", *glob]);
        }
        words.extend(["--", line]);
        let run = metier_in(&workspace, "sub", &words);
        assert_eq!(run.code, 4, "{globs:?}: {}{}", run.stdout, run.stderr);
        for path in ["f2", "sub/f2", "d/x", "sub/d/x"] {
            let exists = workspace.join("project").join(path).exists();
            assert_eq!(exists, expect.contains(&path), "{globs:?}: {path}\n{}", run.stderr);
        }
    }
    // At the top it means what it always meant.
    let workspace = machine();
    let run =
        metier_in(&workspace, "", &["exec", "sh", "run.sh", "--write", "sub/f2", "--", "echo 1 > sub/f2"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}
