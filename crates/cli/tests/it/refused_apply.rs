//! What `changes apply` and `changes undo` refuse although a person asks for it.

use std::fs;

use metier_testkit::Workspace;

use crate::binary::{Run, metier};

fn machine() -> Workspace {
    Workspace::new()
        .file("home/.agents/skills/sh/SKILL.md", "---\nname: sh\ndescription: Runs a line.\n---\nRun it.\n")
        .file("home/.agents/skills/sh/scripts/run.sh", "eval \"$1\"\n")
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .file("project/old", "content\n")
}

fn pending(workspace: &Workspace, line: &str) -> Run {
    let run = metier(workspace, &["exec", "sh", "run.sh", "--", line]);
    assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
    run
}

fn refused(workspace: &Workspace, words: &[&str], expect: &str) {
    let run = metier(workspace, words);
    assert!(run.code == 1 && run.stderr.contains(expect), "{words:?}: {} {}", run.code, run.stderr);
}

fn exists(workspace: &Workspace, path: &str) -> bool {
    workspace.join("project").join(path).exists()
}

#[test]
fn a_deny_rule_holds_for_sets_that_wait() {
    for rule in ["skill:sh/write:secret/**", "write:secret/**", "skill:user.agents:sh/write:secret/a"] {
        let workspace = machine();
        pending(&workspace, "mkdir secret; echo 1 > secret/a; echo 1 > other");
        let denied = ["--deny", rule, "changes", "apply", "last", "--yes"];
        refused(&workspace, &denied, "the deny rule `");
        assert!(!exists(&workspace, "secret/a") && !exists(&workspace, "other"));
        // The rest of the set is not about it.
        let run = metier(&workspace, &["--deny", rule, "changes", "apply", "last", "--yes", "other"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(exists(&workspace, "other"));
    }
}

#[test]
fn the_mode_plan_changes_nothing() {
    let workspace = machine();
    pending(&workspace, "echo 1 > other");
    let expect = "the mode `plan` changes nothing; `--mode ask` sets another one";
    refused(&workspace, &["--mode", "plan", "changes", "apply", "last", "--yes"], expect);
    assert!(!exists(&workspace, "other"));
    assert_eq!(metier(&workspace, &["changes", "apply", "last", "--yes"]).code, 0);
    refused(&workspace, &["--mode", "plan", "changes", "undo"], expect);
    assert!(exists(&workspace, "other"));
    assert_eq!(metier(&workspace, &["changes", "undo"]).code, 0);
    assert!(!exists(&workspace, "other"));
}

/// With the old name alone its content would be gone.
#[test]
fn an_old_name_is_not_taken_away_without_the_new_one() {
    let workspace = machine();
    pending(&workspace, "mv old new");
    let expect = "`old` was renamed to `new`; name both paths, or only `new`";
    refused(&workspace, &["changes", "apply", "last", "old", "--yes"], expect);
    assert!(exists(&workspace, "old") && !exists(&workspace, "new"));
    let run = metier(&workspace, &["changes", "apply", "last", "old", "new", "--yes"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!exists(&workspace, "old") && exists(&workspace, "new"));
}

/// Names that a line cannot show are the same text in results and in `changes`, so what is printed can be typed.
#[test]
fn a_name_is_printed_in_one_way() {
    for (name, expect) in
        [(r"a\x1b", r"a\\x1b"), ("a\tb", r"a\u{9}b"), ("a\nb", r"a\u{a}b"), ("a ", r"a\u{20}")]
    {
        let workspace = machine();
        let run = pending(&workspace, &format!("echo 1 > '{name}'"));
        assert!(run.stderr.contains(&format!("not approved: created {expect}")), "{}", run.stderr);
        let shown = metier(&workspace, &["changes", "show"]).stdout;
        assert!(shown.contains(&format!("+ {expect} ")), "{shown}");
        let json = metier(&workspace, &["changes", "show", "--json"]).json();
        assert_eq!(json["entries"][0]["path"], expect);
        let run = metier(&workspace, &["changes", "apply", "last", expect, "--yes"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(fs::read_to_string(workspace.join("project").join(name)).unwrap(), "1\n");
    }
}

/// Whether somebody reads the lines on standard error or not, the exit code says that changes wait.
#[test]
fn a_closed_standard_error_does_not_change_the_exit_code() {
    let workspace = machine();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = crate::binary::command(&workspace, &["exec", "sh", "run.sh", "--", "echo 1 > other"]);
    let status = command.stderr(writer).stdout(std::process::Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(4));
}
