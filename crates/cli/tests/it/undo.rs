//! `changes undo` takes back exactly what was applied last, and nothing that anyone else did since.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use metier_testkit::Workspace;
use serde_json::Value;

use crate::binary::{Run, command, metier};
use crate::change_tree::tree;
use crate::ordinary_user::again_as_user;

const ALLOW: [&str; 2] = ["--allow", "skill:sh/write:**"];

/// A project with a skill that runs its first argument.
fn machine() -> Workspace {
    Workspace::new()
        .file("home/.agents/skills/sh/SKILL.md", "---\nname: sh\ndescription: Runs a line.\n---\nRun it.\n")
        .file("home/.agents/skills/sh/scripts/run.sh", "eval \"$1\"\n")
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .file("project/a", "a\n")
        .file("project/b", "b\n")
        .file("project/c", "c\n")
        .file("project/docs/t", "t\n")
}

/// Runs a line whose changes wait; the id of their set.
fn pending(workspace: &Workspace, line: &str) -> String {
    let run = metier(workspace, &["exec", "sh", "run.sh", "--json", "--", line]);
    assert_eq!(run.code, 4, "{}{}", run.stdout, run.stderr);
    run.json()["changes"]["id"].as_str().unwrap().to_owned()
}

/// Runs a line whose changes are applied; the id of their set.
fn applied(workspace: &Workspace, line: &str) -> String {
    let words = [&["exec", "sh", "run.sh", "--json"], &ALLOW[..], &["--", line]].concat();
    let run = metier(workspace, &words);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    run.json()["changes"]["id"].as_str().unwrap().to_owned()
}

fn fine(workspace: &Workspace, words: &[&str]) -> String {
    let run = metier(workspace, words);
    assert_eq!(run.code, 0, "{words:?}: {}{}", run.stdout, run.stderr);
    run.stdout
}

fn read(workspace: &Workspace, path: &str) -> String {
    fs::read_to_string(workspace.join("project").join(path)).unwrap_or_else(|_| "(missing)".to_owned())
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// What `metier changes` says of a set.
fn set(workspace: &Workspace, id: &str) -> Value {
    let sets = metier(workspace, &["changes", "--json"]).json()["changes"].clone();
    sets.as_array().unwrap().iter().find(|set| set["id"] == id).cloned().unwrap()
}

/// What the user does after a set was applied, and how it is taken back again.
type Deed = fn(&Path);

#[test]
fn what_the_user_did_since_is_a_conflict_and_stays() {
    let cases: &[(&str, Deed, &str, Deed)] = &[
        (
            "mkdir nd; echo 1 > nd/1",
            |project| write(&project.join("nd/2"), "precious"),
            "nd/2",
            |project| fs::remove_file(project.join("nd/2")).unwrap(),
        ),
        (
            "mkdir -p hello/src; echo 1 > hello/src/main.rs",
            |project| write(&project.join("hello/src/mine/lib.rs"), "precious"),
            "hello/src/mine",
            |project| fs::remove_dir_all(project.join("hello/src/mine")).unwrap(),
        ),
        (
            "mkdir nd",
            |project| write(&project.join("nd/2"), "precious"),
            "nd/2",
            |project| fs::remove_file(project.join("nd/2")).unwrap(),
        ),
        (
            "rm a; mkdir a; echo 1 > a/1",
            |project| write(&project.join("a/2"), "precious"),
            "a/2",
            |project| fs::remove_file(project.join("a/2")).unwrap(),
        ),
        (
            "echo changed > a",
            |project| set_mode(&project.join("a"), 0o600),
            "a",
            |project| set_mode(&project.join("a"), 0o644),
        ),
        (
            "mkdir -m 755 nd",
            |project| set_mode(&project.join("nd"), 0o700),
            "nd",
            |project| set_mode(&project.join("nd"), 0o755),
        ),
        (
            "chmod 600 a",
            |project| set_mode(&project.join("a"), 0o640),
            "a",
            |project| set_mode(&project.join("a"), 0o600),
        ),
        (
            "rm docs/t",
            |project| fs::rename(project.join("docs"), project.join("elsewhere")).unwrap(),
            "docs",
            |project| fs::rename(project.join("elsewhere"), project.join("docs")).unwrap(),
        ),
    ];
    for (line, deed, path, back) in cases {
        let workspace = machine();
        let project = workspace.join("project");
        let before = tree(&project);
        let id = applied(&workspace, &format!("umask 022; {line}"));
        deed(&project);
        let theirs = tree(&project);
        let run = metier(&workspace, &["changes", "undo"]);
        assert_eq!(run.code, 1, "{line}: {}{}", run.stdout, run.stderr);
        let names_it = run.stderr.contains(&format!("{path} was "));
        assert!(names_it && run.stderr.contains("nothing was undone"), "{line}: {}", run.stderr);
        assert!(tree(&project) == theirs, "{line}");
        assert_eq!(set(&workspace, &id)["state"], "applied", "{line}");
        back(&project);
        fine(&workspace, &["changes", "undo"]);
        assert!(tree(&project) == before, "{line}");
    }
}

#[test]
fn what_the_user_put_into_a_folder_that_was_applied_in_part_stays() {
    let workspace = machine();
    let id = pending(&workspace, "mkdir nd; echo 1 > nd/1; echo 2 > nd/2");
    fine(&workspace, &["changes", "apply", &id, "nd/1", "--yes"]);
    write(&workspace.join("project/nd/mine"), "precious");
    let run = metier(&workspace, &["changes", "undo"]);
    assert!(run.code == 1 && run.stderr.contains("nd/mine"), "{}", run.stderr);
    assert_eq!(
        (read(&workspace, "nd/mine").as_str(), read(&workspace, "nd/1").as_str()),
        ("precious", "1\n")
    );
}

#[test]
fn a_later_set_is_undone_first() {
    let workspace = machine();
    let before = tree(&workspace.join("project"));
    let first = applied(&workspace, "mkdir nd; echo 1 > nd/1");
    let second = applied(&workspace, "echo 2 > nd/2");
    let run = metier(&workspace, &["changes", "undo", &first]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let advice = format!("metier changes undo {second}");
    assert!(run.stderr.contains("nd/2") && run.stderr.contains(&advice), "{}", run.stderr);
    assert_eq!(read(&workspace, "nd/2"), "2\n");
    assert_eq!(set(&workspace, &second)["state"], "applied");
    fine(&workspace, &["changes", "undo", &second]);
    fine(&workspace, &["changes", "undo", &first]);
    assert!(tree(&workspace.join("project")) == before);
}

#[test]
fn a_set_that_was_applied_in_parts_is_undone_part_by_part_and_the_rest_waits() {
    let workspace = machine();
    let id = pending(&workspace, "echo A > a; echo B > b; echo C > c");
    fine(&workspace, &["changes", "apply", &id, "a", "--yes"]);
    fine(&workspace, &["changes", "apply", &id, "b", "--yes"]);
    let said = fine(&workspace, &["changes", "undo"]);
    assert!(said.contains("undid 1 change: b"), "{said}");
    assert!(said.contains("1 path that was applied before stays applied"), "{said}");
    let texts = || ["a", "b", "c"].map(|path| read(&workspace, path));
    assert_eq!(texts(), ["A\n", "b\n", "c\n"]);
    // Nobody has decided about `c` yet.
    let row = set(&workspace, &id);
    assert_eq!((&row["state"], &row["applied"], &row["pending"]), (&"pending".into(), &1.into(), &2.into()));
    let said = fine(&workspace, &["changes", "undo"]);
    assert!(said.contains("undid 1 change: a"), "{said}");
    assert_eq!(texts(), ["a\n", "b\n", "c\n"]);
    assert_eq!(set(&workspace, &id)["state"], "pending");
    let run = metier(&workspace, &["changes", "undo"]);
    assert!(run.code == 1 && run.stderr.contains("nothing was applied here"), "{}", run.stderr);
    assert!(fine(&workspace, &["changes", "discard", "--pending"]).contains(&id));
}

#[test]
fn what_no_rule_covered_still_waits_after_an_undo() {
    let workspace = machine();
    let words = ["exec", "sh", "run.sh", "--json", "--allow", "skill:sh/write:a", "--"];
    let run = metier(&workspace, &[&words[..], &["echo A > a; echo B > b"]].concat());
    assert_eq!(run.code, 4, "{}", run.stderr);
    let id = run.json()["changes"]["id"].as_str().unwrap().to_owned();
    fine(&workspace, &["changes", "undo"]);
    assert_eq!(set(&workspace, &id)["state"], "pending");
    fine(&workspace, &["changes", "apply", &id, "--yes"]);
    assert_eq!((read(&workspace, "a").as_str(), read(&workspace, "b").as_str()), ("A\n", "B\n"));
    fine(&workspace, &["changes", "undo"]);
    assert_eq!(set(&workspace, &id)["state"], "undone", "all of it was decided");
}

#[test]
fn the_last_is_the_one_that_was_applied_last_and_not_the_one_that_ran_last() {
    let workspace = machine();
    let first = pending(&workspace, "echo A > a");
    applied(&workspace, "echo B > b");
    fine(&workspace, &["changes", "apply", &first, "--yes"]);
    assert!(fine(&workspace, &["changes", "undo"]).contains(&first));
    assert_eq!((read(&workspace, "a").as_str(), read(&workspace, "b").as_str()), ("a\n", "B\n"));
    fine(&workspace, &["changes", "undo"]);
    assert_eq!(read(&workspace, "b"), "b\n");
}

#[test]
fn a_set_of_another_project_is_named_with_its_folder() {
    let workspace = machine().dir("other");
    let id = pending(&workspace, "echo A > a");
    let project = workspace.join("project").display().to_string();
    for (words, result) in
        [(&["changes", "apply", &id, "--yes"][..], "A\n"), (&["changes", "undo", &id], "a\n")]
    {
        let output = command(&workspace, words).current_dir(workspace.join("other")).output().unwrap();
        let run = Run {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap(),
        };
        assert!(run.code == 0 && run.stdout.contains(&project), "{words:?}: {}{}", run.stdout, run.stderr);
        assert_eq!(read(&workspace, "a"), result);
    }
    // The folder where one is goes without saying.
    assert!(!fine(&workspace, &["changes", "apply", &id, "--yes"]).contains(&project));
}

#[test]
fn all_of_this_holds_for_an_ordinary_user() {
    again_as_user("undo::", "undo::all_of_this_holds_for_an_ordinary_user");
}

#[test]
fn a_set_that_is_applied_is_not_discarded() {
    let workspace = machine();
    let id = applied(&workspace, "echo new > a");
    let refused = metier(&workspace, &["changes", "discard", &id]);
    assert_eq!(refused.code, 1, "{}{}", refused.stdout, refused.stderr);
    assert!(
        refused.stderr.contains(&format!("`metier changes undo {id}` takes them back")),
        "{}",
        refused.stderr
    );
    let undone = metier(&workspace, &["changes", "undo", &id]);
    assert_eq!(undone.code, 0, "{}", undone.stderr);
    assert_eq!(fs::read_to_string(workspace.join("project/a")).unwrap(), "a\n");
}

#[test]
fn git_reset_writes_only_what_differs() {
    let workspace = machine();
    let git = |words: &[&str]| {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-C"])
            .arg(workspace.join("project"))
            .args(words)
            .output()
            .unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    fs::write(workspace.join("project/a"), "longer than before\n").unwrap();
    let run = metier(&workspace, &["exec", "sh", "run.sh", "--json", "--", "git reset -q --hard"]);
    let changes = run.json()["changes"]["entries"].clone();
    let paths: Vec<&str> =
        changes.as_array().unwrap().iter().filter_map(|entry| entry["path"].as_str()).collect();
    let outside: Vec<&&str> = paths.iter().filter(|path| !path.starts_with(".git")).collect();
    assert_eq!(outside, [&"a"], "{paths:?}");
}

#[test]
fn an_undo_without_an_id_says_where_the_latest_set_was_not_applied() {
    let workspace = machine();
    let first = applied(&workspace, "echo first > a");
    let second = pending(&workspace, "echo second > b");
    let run = metier(&workspace, &["changes", "undo"]);
    assert_eq!((run.code, &*read(&workspace, "a")), (0, "a\n"), "{}", run.stderr);
    assert!(run.stdout.starts_with(&format!("{first}: undid 1 change")), "{}", run.stdout);
    let said =
        format!("the changes `{second}` are newer and not in the project (pending), so `{first}` is undone");
    assert!(run.stderr.contains(&said), "{}", run.stderr);
    // What was applied later is meant anyway.
    let third = applied(&workspace, "echo third > c");
    let run = metier(&workspace, &["changes", "undo"]);
    assert!(run.stdout.contains(&third) && !run.stderr.contains("newer"), "{}{}", run.stdout, run.stderr);
}
