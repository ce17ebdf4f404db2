//! git changes no more of the project inside a call than it was asked to.

use std::process::Command;

use metier_testkit::Workspace;
use serde_json::Value;

use crate::binary::metier;

/// A repository with a commit of two files, which are older than the index.
fn machine() -> Workspace {
    let workspace = Workspace::new()
        .file("home/.agents/skills/sh/SKILL.md", "---\nname: sh\ndescription: Runs a line.\n---\nRun it.\n")
        .file("home/.agents/skills/sh/scripts/run.sh", "eval \"$1\"\n")
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .file("project/a", "a\n")
        .file("project/docs/b", "b\n");
    let line = "touch -d '1 minute ago' a docs/b && git init -q && git config user.name a && git config user.email a@b \
                && git add -A && git commit -qm one";
    let done = Command::new("sh")
        .args(["-c", line])
        .current_dir(workspace.join("project"))
        .env("HOME", workspace.join("home"))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    workspace
}

/// The exit code of a line, and what of it would change the project.
fn changed(workspace: &Workspace, line: &str) -> (i32, Vec<String>) {
    let run = metier(workspace, &["exec", "sh", "run.sh", "--json", "--", line]);
    let json = run.json();
    let entries: &[Value] = json["changes"]["entries"].as_array().map_or(&[], Vec::as_slice);
    let asked = entries.iter().filter(|entry| entry["state"] != "ignored");
    let text =
        |entry: &Value| format!("{} {}", entry["kind"].as_str().unwrap(), entry["path"].as_str().unwrap());
    (run.code, asked.map(text).collect())
}

#[test]
fn a_reset_writes_only_what_differs() {
    let workspace = machine();
    let history = ["created .git/ORIG_HEAD", "modified .git/logs/HEAD"].map(str::to_owned);
    assert_eq!(changed(&workspace, "git reset --hard"), (4, history.to_vec()));
    let (code, paths) = changed(&workspace, "echo x > a; git reset --hard");
    assert_eq!((code, &paths[..2], paths.get(2).map(String::as_str)), (4, &history[..], Some("times a")));
    assert_eq!(paths.len(), 3, "{paths:?}");
}

#[test]
fn what_git_only_looks_at_asks_nothing() {
    let workspace = machine();
    for line in
        ["git status", "git diff", "git add -A", "git hash-object -w a", "git stash list", "git log -1"]
    {
        assert_eq!(changed(&workspace, line), (0, Vec::new()), "{line}");
    }
    // A time that a script sets itself is a change, and is called what it is.
    assert_eq!(changed(&workspace, "touch a"), (4, vec!["times a".to_owned()]));
}
