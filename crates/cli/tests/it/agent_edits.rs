//! The agent's own `Write` and `Edit` go the way of a command's changes: listed, in the log, and undone.

use crate::binary::{metier, workspace};
use crate::model_server::{ModelServer, Says};
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::fs;

fn user(server: &ModelServer) -> Workspace {
    workspace()
        .file("project/metier.toml", "")
        .file("project/notes.md", "one\ntwo\n")
        .file("home/.config/metier/config.toml", server.config())
}

fn holds(workspace: &Workspace, path: &str) -> Option<String> {
    fs::read_to_string(workspace.join("project").join(path)).ok()
}

#[test]
fn an_edit_is_listed_shown_with_its_lines_and_undone() {
    let server = ModelServer::saying(vec![
        Says::Calls("Edit", json!({"file_path": "notes.md", "old_string": "two", "new_string": "three"})),
        Says::Calls("Write", json!({"file_path": "docs/new/a.md", "content": "new\n"})),
        Says::Words("Done."),
    ]);
    let workspace = user(&server);
    let run =
        metier(&workspace, &["run", "change it", "--allow", "Edit(notes.md)", "--allow", "Write(docs/**)"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("[changed] notes.md"), "{}", run.stderr);
    assert!(run.stderr.contains("[changed] docs/new/a.md (created)"), "{}", run.stderr);
    assert_eq!(holds(&workspace, "notes.md").as_deref(), Some("one\nthree\n"));

    let listed = metier(&workspace, &["changes", "--json"]).json();
    let commands: Vec<&Value> =
        listed["changes"].as_array().unwrap().iter().map(|set| &set["origin"]["command"]).collect();
    assert_eq!(commands, ["Write docs/new/a.md", "Edit notes.md"]);
    let edit = listed["changes"][1]["id"].as_str().unwrap();
    let shown = metier(&workspace, &["changes", "show", edit, "--diff"]);
    assert!(shown.stdout.contains("-two") && shown.stdout.contains("+three"), "{}", shown.stdout);

    assert_eq!(metier(&workspace, &["changes", "undo"]).code, 0);
    assert!(!workspace.join("project/docs").exists());
    assert_eq!(metier(&workspace, &["changes", "undo", edit]).code, 0);
    assert_eq!(holds(&workspace, "notes.md").as_deref(), Some("one\ntwo\n"));
    // The model was told what it is always told.
    server.request();
    let told = server.request()["messages"].to_string();
    assert!(told.contains("Edited `notes.md` in 1 place."), "{told}");
}

#[test]
fn an_undo_does_not_overwrite_what_was_written_since() {
    let write = Says::Calls("Write", json!({"file_path": "a.md", "content": "agent\n"}));
    let server = ModelServer::saying(vec![write, Says::Words("Done.")]);
    let workspace = user(&server);
    assert_eq!(metier(&workspace, &["run", "write", "--allow", "Write(a.md)"]).code, 0);
    fs::write(workspace.join("project/a.md"), "user\n").unwrap();
    let undone = metier(&workspace, &["changes", "undo"]);
    assert_eq!(undone.code, 1, "{}", undone.stdout);
    assert!(undone.stderr.contains("a.md"), "{}", undone.stderr);
    assert_eq!(holds(&workspace, "a.md").as_deref(), Some("user\n"));
}

#[test]
fn a_write_that_is_not_allowed_leaves_nothing() {
    let write = Says::Calls("Write", json!({"file_path": "a.md", "content": "agent\n"}));
    let server = ModelServer::saying(vec![write, Says::Words("I could not.")]);
    let workspace = user(&server);
    let run = metier(&workspace, &["run", "write"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert_eq!(holds(&workspace, "a.md"), None);
    assert_eq!(metier(&workspace, &["changes", "--json"]).json()["changes"], json!([]));
}
