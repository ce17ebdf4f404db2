//! The rules that are printed after a run allow exactly what was listed, whatever the names are.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use metier_testkit::Workspace;

use crate::binary::{Run, metier};

/// A project, and a skill whose script is a shell line.
fn machine(line: &str) -> Workspace {
    Workspace::new()
        .file("home/.agents/skills/lab/SKILL.md", "---\nname: lab\ndescription: Works.\n---\nRun it.\n")
        .file("home/.agents/skills/lab/scripts/a.sh", format!("cd \"$PROJECT_DIR\"; {line}\n"))
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .dir("project/old")
}

fn exec(workspace: &Workspace, rules: &[String]) -> Run {
    let flags = rules.iter().flat_map(|rule| ["--allow", rule.as_str()]);
    metier(workspace, &["exec", "lab", "a.sh"].into_iter().chain(flags).collect::<Vec<_>>())
}

/// The rules as they stand on the screen, read as a shell reads them.
fn printed(run: &Run) -> Vec<String> {
    let lines = run.stderr.lines().filter_map(|line| line.trim().strip_prefix("--allow '"));
    lines.map(|line| line.strip_suffix('\'').unwrap().replace(r"'\''", "'")).collect()
}

fn path(workspace: &Workspace, name: &[u8]) -> PathBuf {
    workspace.join("project").join(OsStr::from_bytes(name))
}

#[test]
fn rules_never_cover_more_than_was_listed() {
    let line = "for i in $(seq 50); do echo 1 > old/t$i; done; mkdir -p new/deep; for i in $(seq 50); do echo 1 > new/deep/$i; done";
    let workspace = machine(line);
    let run = exec(&workspace, &[]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    let rules = printed(&run);
    assert!(rules.contains(&"skill:user.agents:lab/write:new/**".to_owned()), "{rules:?}");
    assert!(rules.iter().all(|rule| !rule.contains("old/*") && !rule.ends_with(":**")), "{rules:?}");
    assert_eq!(rules.len(), 40, "{rules:?}");
    assert!(
        run.stderr.contains("11 paths are not covered by these rules; `metier changes apply "),
        "{}",
        run.stderr
    );
    let run = exec(&workspace, &rules);
    assert_eq!(run.stderr.matches("not approved: created old/t").count(), 10, "{}", run.stderr);
    assert!(workspace.join("project/new/deep/50").exists());
}

#[test]
fn every_name_is_printed_so_that_it_can_be_pasted() {
    // Each with another name that the rule must not mean.
    for (name, other) in [
        (&b"\x80"[..], &b"\x81"[..]),
        (b"a\xff\xfeb", b"axxb"),
        (b"a\rb\nc", b"axbxc"),
        ("◆x".as_bytes(), b"xxxx"),
        ("a\u{200b}".as_bytes(), b"abcd"),
        (b"end ", b"endx"),
        (br"back\slash", b"back/slash"),
        (br"\x41", b"A"),
        (b"q'[x]{y}*?", b"q'xyab"),
        (b".vscode/a\nb", b".vscode/axb"),
        (b".vscode/\xff", b".vscode/\xfe"),
        ("AGENTS.md".as_bytes(), b"CLAUDE.md"),
    ] {
        let octal =
            |name: &[u8]| name.iter().map(|byte| format!("\\{byte:03o}")).collect::<Vec<_>>().concat();
        let line =
            |name: &[u8]| format!("n=$'{}'; mkdir -p \"$(dirname \"$n\")\"; echo 1 > \"$n\"", octal(name));
        let workspace = machine(&line(name));
        let refused = exec(&workspace, &[]);
        let rules = printed(&refused);
        assert!(!rules.is_empty() && refused.code == 4, "{}: {}", name.escape_ascii(), refused.stderr);
        let run = exec(&workspace, &rules);
        assert_eq!(run.code, 0, "{}: {rules:?}: {}", name.escape_ascii(), run.stderr);
        assert!(path(&workspace, name).exists(), "{rules:?}");

        let workspace = machine(&line(other));
        let run = exec(&workspace, &rules);
        assert_eq!(run.code, 4, "{rules:?} also means {}: {}", other.escape_ascii(), run.stderr);
        assert!(!path(&workspace, other).exists(), "{rules:?}");

        // In the mode that asks nothing, a rule is printed for what stays refused.
        if name.starts_with(b".vscode") || name == b"AGENTS.md" {
            let workspace = machine(&line(name));
            let yolo = |rules: &[String]| {
                let flags = rules.iter().flat_map(|rule| ["--allow", rule.as_str()]);
                let args = ["exec", "lab", "a.sh", "--mode", "yolo"].into_iter().chain(flags);
                metier(&workspace, &args.collect::<Vec<_>>())
            };
            let run = yolo(&[]);
            assert!(run.stderr.contains("refused: created "), "{}", run.stderr);
            assert!(run.stderr.contains("(protected: "), "{}", run.stderr);
            let rules = printed(&run);
            assert_eq!(yolo(&rules).code, 0, "{rules:?}: {}", run.stderr);
            assert!(path(&workspace, name).exists(), "{rules:?}");
        }
    }
}

#[test]
fn paths_can_be_named_as_they_are_printed() {
    let line =
        r"mkdir .vscode; echo 1 > .vscode/$'a\nb'; echo 1 > $'b\xff'; echo 1 > $'b\xfe'; echo 1 > 'c\d'";
    let workspace = machine(line);
    assert_eq!(exec(&workspace, &[]).code, 4);
    let shown = metier(&workspace, &["changes", "show", "last"]).stdout;
    for name in [r"b\xff", r"b\xfe", r"c\\d", r".vscode/a\u{a}b"] {
        assert!(shown.contains(&format!("+ {name} ")), "{name}: {shown}");
    }
    let one = metier(&workspace, &["changes", "apply", "last", "--yes", r"b\xff"]);
    assert_eq!(one.code, 0, "{}", one.stderr);
    assert!(path(&workspace, b"b\xff").exists() && !path(&workspace, b"b\xfe").exists());
    let refused = metier(&workspace, &["changes", "apply", "last", "--yes"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    let command = refused.stderr.lines().find_map(|line| line.trim().strip_prefix("metier ")).unwrap();
    let words: Vec<String> = command.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
    let pasted = metier(&workspace, &words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(pasted.code, 0, "{words:?}: {}", pasted.stderr);
    assert!(path(&workspace, b".vscode/a\nb").exists() && path(&workspace, br"c\d").exists());
}
