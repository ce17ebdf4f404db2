//! A question at a real terminal: Ctrl-C is a no at once, and what was typed before is no answer.

use crate::binary::workspace;
use crate::model_server::{ModelServer, Says};
use crate::typist::Typist;
use metier_testkit::Workspace;
use serde_json::json;
use std::sync::mpsc::channel;

const CTRL_C: &str = "\u{3}";

fn write() -> Says {
    Says::Calls("Write", json!({"file_path": "note.txt", "content": "hello\n"}))
}

fn user(server: &ModelServer) -> Workspace {
    workspace().file("project/metier.toml", "").file("home/.config/metier/config.toml", server.config())
}

/// Reproduction of review/terminal.md 0.3: nothing happened, and a "y" after it was still a yes.
#[test]
fn ctrl_c_at_a_question_of_run_is_a_no_at_once() {
    for after in ["", "y\n"] {
        let server = ModelServer::saying(vec![write(), Says::Words("It was not allowed.")]);
        let workspace = user(&server);
        let mut typist = Typist::at(&workspace, &["run", "write a note"]);
        typist.wait_for("[n]o > ");
        typist.types(CTRL_C);
        typist.types(after);
        typist.wait_for("[stopped] the user");
        assert!(!typist.ends().success());
        assert!(!workspace.join("project/note.txt").exists(), "{after:?}");
    }
}

#[test]
fn ctrl_c_at_a_question_of_chat_is_a_no_and_what_follows_is_no_answer() {
    let server = ModelServer::saying(vec![write(), Says::Words("Yes what?")]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["chat"]);
    typist.wait_for("> ");
    typist.types("write a note\r");
    typist.wait_for("[n]o > ");
    typist.types(CTRL_C);
    typist.types("y\n");
    // The "y" is a message then, sent or kept for the arrow keys.
    typist.wait_for("[stopped] the user");
    typist.kills();
    assert!(!workspace.join("project/note.txt").exists());
}

#[test]
fn ctrl_c_at_a_question_before_a_script_or_a_skills_command_is_a_no_at_once() {
    let skill = "---\nname: tool\ndescription: Does things.\nmetadata:\n  metier:\n    needs:\n      env: [API_TOKEN]\n---\n\n!`touch ran`\n";
    let workspace = workspace()
        .file("project/metier.toml", "")
        .file("home/.agents/skills/tool/SKILL.md", skill)
        .file("home/.agents/skills/tool/scripts/a.sh", "echo it-ran\n");
    for (args, act) in
        [(&["exec", "tool", "a.sh"][..], "it-ran"), (&["use", "tool", "--mode", "strict"], "<skill-context")]
    {
        for after in ["", "y\n"] {
            let mut typist = Typist::at(&workspace, args);
            typist.wait_for("[n]o > ");
            typist.types(CTRL_C);
            typist.types(after);
            assert!(!typist.ends().success(), "{args:?}");
            typist.reads_until_quiet(std::time::Duration::from_millis(50));
            assert!(
                !String::from_utf8_lossy(&typist.seen).contains(act),
                "{args:?} {}",
                typist.screen_text()
            );
        }
    }
}

/// In `run` nobody reads the terminal between questions, so the keys wait in the terminal itself.
#[test]
fn a_key_typed_before_a_question_of_run_does_not_answer_it() {
    let (go, held) = channel();
    let server =
        ModelServer::saying(vec![Says::Held(held, Box::new(write())), Says::Words("It was not allowed.")]);
    let workspace = user(&server);
    let mut typist = Typist::at(&workspace, &["run", "write a note"]);
    server.request();
    typist.types("y\na\ny");
    typist.wait_for("y\r\na\r\ny");
    go.send(()).unwrap();
    typist.wait_for("[n]o > ");
    typist.types("\n");
    typist.wait_for("It was not allowed.");
    assert!(!workspace.join("project/note.txt").exists());
    typist.ends();
}
