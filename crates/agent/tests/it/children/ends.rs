//! How children end when they do not end well.

use std::time::{Duration, Instant};

use metier_agent::{CancelToken, Limits};
use metier_store::{EventKind, Outcome};

use super::stage::{Actor, Stage, calls, fails, hangs, says, uses};

const FORK: &str = "context: fork\n";

#[test]
fn e02_a_child_that_fails_and_one_that_says_nothing_are_told_as_failures() {
    let stage = Stage::new(&[("broken", FORK, "Do."), ("silent", FORK, "Do.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("broken", ""), ("silent", "")]),
        ("", _) => says("so"),
        ("broken", _) => fails("the provider is down"),
        _ => says(" "),
    });
    let answer = stage.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Done);
    let results = model.asked("")[1].results.clone();
    assert!(results[0].starts_with("[skill broken: failed: "), "{results:?}");
    assert!(results[0].contains("the provider is down"), "{results:?}");
    assert!(results[1].starts_with("[skill silent: failed: it ended without a word"), "{results:?}");
    let is_error = stage.events(stage.top()).into_iter().filter_map(|event| match event.kind {
        EventKind::Finished(finished) => Some(finished.is_error),
        _ => None,
    });
    assert!(is_error.into_iter().all(|is_error| is_error));
}

#[test]
fn a_panic_in_a_sub_agent_ends_that_one_and_its_parent_continues() {
    let stage = Stage::new(&[("broken", FORK, "Do."), ("sound", FORK, "Do.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("broken", ""), ("sound", "")]),
        ("", _) => says("so"),
        ("broken", _) => panic!("a defect, for this test"),
        _ => says("found"),
    });
    let answer = stage.run(&model);
    assert_eq!((answer.ended.outcome, answer.ended.text.as_str()), (Outcome::Done, "so"));
    let results = model.asked("")[1].results.clone();
    assert!(results[0].starts_with("[skill broken: failed: internal error"), "{results:?}");
    assert!(results[1].ends_with("\nfound"), "{results:?}");
}

#[test]
fn e04_children_that_never_end_free_their_slots_when_their_time_is_up_also_in_the_middle_of_a_command() {
    let mut stage = Stage::new(&[("x", FORK, "Do.")]);
    stage.limits = Limits { child_time: Duration::from_secs(1), ..Limits::default() };
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("x", "hang"), ("x", "run"), ("x", "be quick")]),
        ("", _) => says("so"),
        _ if scene.told == "hang" => hangs("so far"),
        (_, 0) if scene.told == "run" => calls([("Bash", r#"{"command": "sleep 62.417"}"#)]),
        _ => says("done"),
    });
    let began = Instant::now();
    stage.run(&model);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let results = model.asked("")[1].results.clone();
    assert!(results[0].starts_with("[skill x: partial: it took 1 seconds, the limit is 1"), "{results:?}");
    assert!(results[0].ends_with("so far"), "what had come is there: {results:?}");
    // Its own limit ends the command; whoever watches over it comes a moment later at most.
    let ends = ["partial: it took 1 seconds, the limit is 1", "cancelled: it took more than 1 seconds"];
    assert!(ends.iter().any(|end| results[1].starts_with(&format!("[skill x: {end}"))), "{results:?}");
    assert!(results[2].ends_with("\ndone"), "{results:?}");
    assert!(!super::queue::is_running("62.417"), "its process is left");
}

#[test]
fn e06_a_skill_that_may_take_two_turns_ends_there_with_what_is_there_and_the_reason() {
    let stage = Stage::new(&[("x", "context: fork\nmaxTurns: 2\n", "Do.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("x", "")]),
        ("", _) => says("so"),
        _ => calls([("Glob", r#"{"pattern": "*"}"#)]),
    });
    stage.run(&model);
    assert_eq!(model.asked("x").len(), 2);
    let results = model.asked("")[1].results.clone();
    assert!(
        results[0]
            .starts_with("[skill x: partial: the model was asked 2 times, the limit is 2 (2 turns, 2 calls"),
        "{results:?}"
    );
}

#[test]
fn more_turns_than_the_session_has_are_not_had() {
    let mut stage = Stage::new(&[("x", "context: fork\nmaxTurns: 80\n", "Do.")]);
    stage.limits = Limits { turns: 3, ..Limits::default() };
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("x", "")]),
        ("", _) => says("so"),
        _ => calls([("Glob", r#"{"pattern": "*"}"#)]),
    });
    stage.run(&model);
    assert_eq!(model.asked("x").len(), 3);
}

#[test]
fn e07_stopping_after_a_call_of_a_child_returns_what_is_there() {
    let stage = Stage::new(&[("x", FORK, "Do.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", _) => uses(&[("x", "")]),
        (_, 0) => calls([("Glob", r#"{"pattern": "*"}"#)]),
        _ => hangs("half of it"),
    });
    let halt = CancelToken::new().unwrap();
    let stop = halt.clone();
    stage.seen.then(move |event| {
        if event.parent.is_some() && matches!(event.kind, EventKind::Asked { turn: 2, .. }) {
            stop.cancel();
        }
    });
    let answer = stage.talk(&stage.agent(&model), &halt).run().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Cancelled);
    let results = stage.results();
    assert!(results[0].starts_with("[skill x: cancelled: it was stopped (2 turns, 1 call"), "{results:?}");
    let child = &stage.children(stage.top())[0];
    assert_eq!(child.outcome, Some(Outcome::Cancelled));
}

#[test]
fn e20_what_children_use_up_counts_for_the_limits_of_the_whole_while_they_work() {
    for (limits, which) in [
        (Limits { tokens: 600, ..Limits::default() }, "tokens"),
        (Limits { calls: 4, ..Limits::default() }, "tools were called"),
    ] {
        let mut stage = Stage::new(&[("x", FORK, "Do.")]);
        stage.limits = limits;
        let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
            ("", 0) => uses(&[("x", "1"), ("x", "2")]),
            ("", _) => says("never"),
            _ => calls([("Glob", r#"{"pattern": "*"}"#)]),
        });
        let answer = stage.run(&model);
        assert_eq!(answer.ended.outcome, Outcome::Partial);
        assert!(answer.ended.why.as_ref().unwrap().contains(which));
        assert!(
            stage.results().iter().all(|text| text.contains("partial: ") && text.contains(which)),
            "{:?}",
            stage.results()
        );
        // Two at once may each be one answer or call further than the limit, and no more.
        let uncached = answer.ended.usage.input + answer.ended.usage.output;
        let is_near = if which == "tokens" { uncached <= 600 + 220 } else { answer.ended.calls <= 4 + 2 };
        assert!(is_near, "{:?}", answer.ended);
    }
}

#[test]
fn what_a_child_would_need_a_yes_for_is_told_with_the_rule_by_its_parent() {
    let stage = Stage::new(&[("x", FORK, "Do.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("x", "")]),
        (_, 0) => calls([("Write", r#"{"file_path": "new.md", "content": "x"}"#)]),
        _ => says("I may not."),
    });
    let answer = stage.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::NeedsYes);
    assert_eq!(answer.needs[0].rules, ["Write(new.md)"]);
    assert!(
        stage.results()[0].starts_with("[skill x: needs a yes: no one could be asked"),
        "{:?}",
        stage.results()
    );
}
