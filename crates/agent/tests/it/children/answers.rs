//! Questions about what children do: a yes for the session is for all of it.

use std::sync::{Arc, Mutex};

use metier_agent::CancelToken;
use metier_policy::{Answer, Mode};
use metier_runtime::ApprovalRequest;

use super::stage::{Actor, Stage, calls, says, uses};

const FORK: &str = "context: fork\n";

/// Runs a conversation in which every run asks, and gives what was asked about.
fn asked(stage: &Stage, model: &Arc<Actor>, answer: Answer) -> Vec<String> {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let agent = stage.agent_with(model, |builder| {
        builder.mode(Mode::Strict).ask(move |request: &ApprovalRequest<'_>| {
            heard.lock().unwrap().push(request.action.sentence());
            answer
        })
    });
    stage.talk(&agent, &CancelToken::new().unwrap()).run().unwrap();
    let mut asked = asked.lock().unwrap().clone();
    asked.retain(|sentence| sentence.contains("echo"));
    asked
}

#[test]
fn two_children_that_ask_the_same_at_once_ask_once_and_their_parent_not_again() {
    let stage = Stage::new(&[("x", FORK, "Do.")]);
    let barrier = Arc::new(tokio::sync::Barrier::new(2));
    let model = Actor::new(move |scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("x", "1"), ("x", "2")]),
        ("", 1) => calls([("Bash", r#"{"command": "echo hi"}"#)]),
        ("x", 0) => {
            let barrier = Arc::clone(&barrier);
            calls([("Bash", r#"{"command": "echo hi"}"#)]).after(async move {
                barrier.wait().await;
            })
        }
        _ => says("done"),
    });
    let asked = asked(&stage, &model, Answer::SessionExact);
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(model.asked("")[2].results[2].contains("hi"), "{:?}", model.asked("")[2].results);
}

#[test]
fn a_no_in_a_child_is_a_no_for_its_parent_until_the_user_speaks() {
    let stage = Stage::new(&[("x", FORK, "Do.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("x", "")]),
        ("", 1) | ("x", 0) => calls([("Bash", r#"{"command": "echo hi"}"#)]),
        _ => says("done"),
    });
    let asked = asked(&stage, &model, Answer::No);
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(!model.asked("")[2].results[1].contains("hi\n"), "{:?}", model.asked("")[2].results);
}
