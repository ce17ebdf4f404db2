//! D2: The folder in which a project's server starts lies in the project, links followed.

use crate::binary::{metier, workspace};
use metier_testkit::Workspace;
use serde_json::json;
use std::fs;

const PRIVATE: &str = "the user's private notes";

/// A server that writes down what it finds where it starts.
fn server() -> serde_json::Value {
    let script = "cat notes.txt > $SERVER_DATA/found";
    json!({"command": "sh", "args": ["-c", script], "cwd": "sub"})
}

fn found(workspace: &Workspace, label: &str) -> Option<String> {
    fs::read_to_string(workspace.join("home/.local/share/metier/mcp").join(label).join("found")).ok()
}

fn project() -> Workspace {
    workspace()
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .file("home/private/notes.txt", PRIVATE)
        .file("project/metier.toml", "")
        .file("project/sub/notes.txt", "the project's notes")
}

fn with_link_in_place(workspace: Workspace) -> Workspace {
    fs::remove_dir_all(workspace.join("project/sub")).unwrap();
    workspace.symlink("project/sub", "../home/private")
}

#[test]
fn a_link_out_of_the_project_is_no_place_to_start() {
    let workspace = project().file("project/.mcp.json", json!({"mcpServers": {"db": server()}}).to_string());
    metier(&workspace, &["trust"]);
    let said = metier(&workspace, &["doctor"]).stdout;
    assert_eq!(found(&workspace, "db").as_deref(), Some("the project's notes"), "the control starts: {said}");
    let workspace = with_link_in_place(workspace);
    let said = metier(&workspace, &["doctor"]).stdout;
    assert_ne!(found(&workspace, "db").as_deref(), Some(PRIVATE), "{said}");
    assert!(said.contains("is outside of the project"), "{said}");
}

#[test]
fn the_same_holds_for_a_server_that_an_agent_describes() {
    let agent = format!("---\nname: bot\ndescription: d\nmcp:\n  db: {}\n---\nYou are a bot.\n", server());
    let workspace = project().file("project/.metier/agents/bot.md", agent);
    metier(&workspace, &["trust"]);
    let run = metier(&workspace, &["run", "--agent", "bot", "hello", "--no-input"]);
    let control = found(&workspace, "db");
    assert_eq!(control.as_deref(), Some("the project's notes"), "the control starts: {}", run.stderr);
    let workspace = with_link_in_place(workspace);
    let run = metier(&workspace, &["run", "--agent", "bot", "hello", "--no-input"]);
    assert_ne!(found(&workspace, "db").as_deref(), Some(PRIVATE), "{}", run.stderr);
    assert!(run.stderr.contains("is outside of the project"), "{}", run.stderr);
}
