//! The agent's own `Write` and `Edit` go the way of a command's changes: listed, in the log, and undone.

use crate::binary::{command, metier, workspace};
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

#[test]
fn bash_starts_in_the_users_current_folder_if_that_is_in_the_project() {
    for folder in ["project/docs/deep", "project"] {
        let server =
            ModelServer::saying(vec![Says::Calls("Bash", json!({"command": "pwd"})), Says::Words("Done.")]);
        let workspace = user(&server).dir("project/docs/deep");
        let run = command(&workspace, &["run", "where", "--json"])
            .current_dir(workspace.join(folder))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        let expect = format!("\"text\":\"{}\"", workspace.join(folder).display());
        assert!(text.contains(&expect), "{expect}\n{text}");
    }
}

#[test]
fn relative_paths_of_the_file_tools_are_seen_from_the_users_current_folder() {
    let server = ModelServer::saying(vec![
        Says::Calls("Read", json!({"file_path": "../../notes.md"})),
        Says::Calls("Glob", json!({"pattern": "**/*.md"})),
        Says::Calls("Glob", json!({"pattern": "*.md", "path": "../.."})),
        Says::Calls("Write", json!({"file_path": "new.md", "content": "new\n"})),
        Says::Calls("Read", json!({"file_path": "../../../outside.md"})),
        Says::Words("Done."),
    ]);
    let workspace = user(&server).file("project/docs/deep/a.md", "a\n").file("outside.md", "private\n");
    let run = command(&workspace, &["run", "look", "--json", "--allow", "Write(docs/**)"])
        .current_dir(workspace.join("project/docs/deep"))
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(holds(&workspace, "docs/deep/new.md").as_deref(), Some("new\n"));
    assert_eq!(holds(&workspace, "new.md"), None);
    let told: Vec<String> = (0..6).map(|_| server.request()["messages"].to_string()).collect();
    assert!(told[1].contains("one"), "{}", told[1]);
    assert!(told[2].contains("\"a.md\""), "{}", told[2]);
    assert!(told[3].contains("\"../../notes.md\""), "{}", told[3]);
    assert!(told[5].contains("is outside") && !told[5].contains("private"), "{}", told[5]);
}
