//! What a change is, besides its path, is shown wherever the change is, and an approval is for that alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use metier_testkit::Workspace;
use serde_json::Value;

use crate::binary::{Run, metier};
use crate::typist::Typist;

fn machine() -> Workspace {
    Workspace::new()
        .file("home/.agents/skills/sh/SKILL.md", "---\nname: sh\ndescription: Runs a line.\n---\nRun it.\n")
        .file("home/.agents/skills/sh/scripts/run.sh", "eval \"$1\"\n")
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .file("project/metier.toml", "")
        .file("project/a", "a\n")
        .file("project/b", "b\n")
}

/// A link, a program, other permissions, a file that becomes a link, and a file with another time alone.
const LINE: &str = "ln -s \"$(printf '/etc/\\033x')\" AGENTS.md; echo x > run; chmod 755 run a; rm b; ln -s a b; touch -d 2001-01-01 c";

fn exec(workspace: &Workspace, words: &[&str]) -> Run {
    fs::write(workspace.join("project/c"), "c\n").unwrap();
    metier(workspace, &[&["exec", "sh", "run.sh"], words, &["--", LINE]].concat())
}

#[test]
fn every_list_shows_where_links_lead_and_what_can_be_executed() {
    let workspace = machine();
    let run = exec(&workspace, &[]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    for line in [
        r"not approved: created AGENTS.md -> /etc/\u{1b}x (link; protected: agents obey it)",
        "not approved: mode changed a (0644 -> 0755)",
        "not approved: modified b -> a (link; was a file)",
        "not approved: touched c",
        "not approved: created run (executable)",
    ] {
        assert!(run.stderr.contains(line), "{line}\n{}", run.stderr);
    }
    let shown = metier(&workspace, &["changes", "show", "--diff"]).stdout;
    for line in [
        r"  + AGENTS.md -> /etc/\u{1b}x (link), PROTECTED",
        "  · a (0644 -> 0755, 2 bytes), mode changed",
        "  ~ b -> a (link, was a file)",
        "  · c (2 bytes), touched",
        "  + run (executable, 2 bytes)",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    let json = metier(&workspace, &["changes", "show", "--json"]).json();
    let entry = |path: &str| -> Value {
        json["entries"].as_array().unwrap().iter().find(|entry| entry["path"] == path).unwrap().clone()
    };
    assert_eq!(entry("AGENTS.md")["target"], "/etc/\u{1b}x");
    assert_eq!((&entry("a")["mode_before"], &entry("a")["mode"]), (&"0644".into(), &"0755".into()));
    assert_eq!((&entry("b")["entry_before"], &entry("b")["target"]), (&"file".into(), &"a".into()));
    assert_eq!(entry("run")["executable"], true);
    let applied = exec(&workspace, &["--allow", "skill:sh/write:**", "--allow", "skill:sh/write:AGENTS.md"]);
    assert_eq!(applied.code, 0, "{}", applied.stderr);
    let line = r"applied: created AGENTS.md -> /etc/\u{1b}x (link)";
    assert!(applied.stderr.contains(line), "{}", applied.stderr);
}

#[test]
fn the_question_shows_them() {
    let workspace = machine();
    fs::write(workspace.join("project/c"), "c\n").unwrap();
    let mut typist = Typist::at(&workspace, &["exec", "sh", "run.sh", "--", LINE]);
    typist.resizes(200, 50);
    typist.wait_for("[n]o > ");
    let seen = String::from_utf8_lossy(&typist.seen).into_owned();
    for line in [
        r"! create `AGENTS.md` -> /etc/\u{1b}x (protected, link)",
        "- modify `b` -> a (link, was a file)",
        "- set permissions of `a` (0644 -> 0755, 2 bytes)",
        "- set the time of `c` (2 bytes)",
        "- create `run` (executable, 2 bytes)",
    ] {
        assert!(seen.contains(line), "{line}\n{seen}");
    }
    typist.types("n\n");
    assert_eq!(typist.ends().code(), Some(4));
}

#[test]
fn always_for_a_file_covers_no_link_folder_or_program_of_that_name() {
    let workspace = machine();
    let run = |line: &str| metier(&workspace, &["exec", "sh", "run.sh", "--", line]).code;
    let mut typist = Typist::at(&workspace, &["exec", "sh", "run.sh", "--", "echo x > new"]);
    typist.wait_for("[n]o > ");
    typist.types("a\n");
    assert_eq!(typist.ends().code(), Some(0));
    let new = workspace.join("project/new");
    fs::remove_file(&new).unwrap();
    for line in ["ln -s /etc/passwd new", "mkdir new", "echo x > new; chmod +x new"] {
        assert_eq!(run(line), 4, "{line}");
        assert!(fs::symlink_metadata(&new).is_err(), "{line}");
    }
    assert_eq!(run("echo other > new"), 0);
    assert_eq!(fs::read_to_string(&new).unwrap(), "other\n");
    fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(run("rm new"), 4);
}

/// Answers, and waits for what comes next, also if it is the same prompt.
fn answer(typist: &mut Typist, typed: &str, next: &str) -> String {
    typist.seen.clear();
    typist.types(typed);
    typist.wait_for(next);
    String::from_utf8_lossy(&typist.seen).replace("\r\n", "\n")
}

#[test]
fn d_at_a_question_shows_the_changed_lines_and_asks_again() {
    let workspace = machine();
    let line = "printf 'a\\nnew \\033[2J◆ line\\n' > a; rm b";
    let mut typist = Typist::at(&workspace, &["exec", "sh", "run.sh", "--", line]);
    typist.wait_for("  [d]iff  [n]o > ");
    let seen = answer(&mut typist, "d\n", "  [d]iff  [n]o > ");
    assert!(seen.contains("  +new \\u{1b}[2J\\u{25c6} line\n"), "{seen}");
    assert!(seen.contains("  --- a/b\n") && seen.contains("  -b\n"), "{seen}");
    typist.types("n\n");
    assert_eq!(typist.ends().code(), Some(4));
    let mut typist = Typist::at(&workspace, &["changes", "apply", "last"]);
    typist.wait_for(" [d]iff [n]o > ");
    let seen = answer(&mut typist, "d\n", " [d]iff [n]o > ");
    assert!(seen.contains("+new \\u{1b}[2J\\u{25c6} line"), "{seen}");
    typist.types("y\n");
    assert_eq!(typist.ends().code(), Some(0));
    assert!(!workspace.join("project/b").exists());
}

#[test]
fn a_long_diff_is_paged_and_leaving_it_is_no_answer() {
    let workspace = machine();
    let mut typist = Typist::at(&workspace, &["exec", "sh", "run.sh", "--", "sleep 1; seq 3000 > a"]);
    typist.resizes(100, 30);
    // Typed before the question.
    typist.types("y\n");
    typist.wait_for("  [d]iff  [n]o > ");
    answer(&mut typist, "d\n", "Enter shows more, [q]uit > ");
    answer(&mut typist, "y\n", "Enter shows more, [q]uit > ");
    answer(&mut typist, "q\n", "  [d]iff  [n]o > ");
    typist.types("\n");
    assert_eq!(typist.ends().code(), Some(4));
    assert_eq!(fs::read_to_string(workspace.join("project/a")).unwrap(), "a\n");
}
