//! What the exit code says when something was refused or waits: docs/changes.md has the table.

use metier_testkit::Workspace;
use serde_json::json;

use crate::binary::{metier, workspace};
use crate::model_server::{ModelServer, Says};
use crate::typist::Typist;

fn machine(server: &ModelServer) -> Workspace {
    workspace()
        .file("project/metier.toml", "")
        .file("home/.config/metier/config.toml", server.config())
        .file("home/.agents/skills/sh/SKILL.md", "---\nname: sh\ndescription: Runs a line.\n---\nRun it.\n")
        .file("home/.agents/skills/sh/scripts/run.sh", "eval \"$1\"\n")
}

fn bash() -> Says {
    Says::Calls("Bash", json!({ "command": "echo x > note.txt" }))
}

fn write() -> Says {
    Says::Calls("Write", json!({ "file_path": "note.txt", "content": "hello\n" }))
}

#[test]
fn a_no_at_a_question_of_run_is_4() {
    for call in [write, bash] {
        let server = ModelServer::saying(vec![call(), Says::Words("It was not allowed.")]);
        let workspace = machine(&server);
        let mut typist = Typist::at(&workspace, &["run", "write a note"]);
        typist.wait_for("[n]o > ");
        typist.types("n\n");
        typist.wait_for("needs a yes: approval is missing");
        assert_eq!(typist.ends().code(), Some(4));
        assert!(!workspace.join("project/note.txt").exists());
    }
}

#[test]
fn what_the_mode_allow_refuses_is_4_and_what_a_rule_denies_is_1() {
    let server = ModelServer::saying(Vec::new());
    let workspace = machine(&server);
    let code = |words: &[&str]| {
        metier(&workspace, &[&["exec", "sh", "run.sh"], words, &["--", "touch z"]].concat()).code
    };
    assert_eq!(code(&["--mode", "allow"]), 4);
    assert_eq!(code(&["--mode", "allow", "--allow", "skill:sh/script:run.sh"]), 4);
    assert_eq!(code(&["--deny", "skill:sh/script:run.sh"]), 1);
    assert!(!workspace.join("project/z").exists());
}

#[test]
fn what_a_mode_refuses_in_run_is_4_with_the_rule_that_would_allow_it() {
    let line = |line: &str| Says::Calls("Bash", json!({ "command": line }));
    let file = |path: &str| Says::Calls("Write", json!({ "file_path": path, "content": "x\n" }));
    for (mode, call, rule) in [
        ("yolo", line("echo 1 > .envrc"), "write:.envrc"),
        ("yolo", file(".envrc"), "Write(.envrc)"),
        ("allow", line("touch a"), "command:touch a"),
        ("allow", file("a.md"), "Write(a.md)"),
    ] {
        let server = ModelServer::saying(vec![call, Says::Words("It was not allowed.")]);
        let run = metier(&machine(&server), &["run", "--mode", mode, "write it"]);
        assert_eq!(run.code, 4, "{mode} {rule}: {}", run.stderr);
        assert!(run.stderr.contains(rule), "{mode} {rule}: {}", run.stderr);
    }
}

#[test]
fn a_failing_script_is_1_and_what_waits_is_said_with_it() {
    let server = ModelServer::saying(Vec::new());
    let workspace = machine(&server);
    let line = "echo x > new; exit 3";
    let run = metier(&workspace, &["exec", "sh", "run.sh", "--", line]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("not approved: created new\n"), "{}", run.stderr);
    assert!(run.stderr.contains("the script ended with status 3"), "{}", run.stderr);
}
