//! How the loop ends: with its work, at a limit, stopped, or without what it needs.

use std::sync::Arc;
use std::time::Duration;

use metier_agent::{LimitHit, Limits, Observer, RunHooks, Session, UserMessage};
use metier_model::{Event, ModelError, Step, Stop, Turn};
use metier_store::{EventKind, Outcome};

use crate::house::{House, scripted};

#[test]
fn a_model_that_repeats_a_failing_call_is_stopped_after_the_third_time() {
    let house = House::new();
    let again = || Turn::calls([("Read", r#"{"file_path": "none.md"}"#)]);
    let model = scripted([again(), again(), again(), again(), Turn::says("never")]);
    let answer = house.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Partial);
    assert_eq!(answer.ended.why.as_deref(), Some("the same call failed 3 times in a row"));
    assert_eq!(model.left(), 2);
}

#[test]
fn a_limit_ends_the_run_with_what_is_there_and_the_reason() {
    let mut house = House::new();
    house.limits = Limits { turns: 2, ..Limits::default() };
    let read = || Turn::calls([("Glob", r#"{"pattern": "*"}"#)]);
    let model = scripted([read(), read(), read()]);
    let answer = house.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Partial);
    assert_eq!(answer.ended.why.as_deref(), Some("the model was asked 2 times, the limit is 2"));
    assert_eq!(house.results().len(), 2);
}

#[test]
fn calls_over_the_limit_get_a_result_that_says_so() {
    let mut house = House::new();
    house.limits = Limits { calls: 1, ..Limits::default() };
    let model = scripted([Turn::calls([
        ("Write", r#"{"file_path": "a.md", "content": "x"}"#),
        ("Write", r#"{"file_path": "b.md", "content": "x"}"#),
    ])]);
    let answer = house.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Partial);
    assert!(house.results()[1].contains("this call was not made: a tool was called, the limit is 1"));
}

#[test]
fn looks_that_run_together_stop_at_the_limit_too() {
    let mut house = House::new();
    house.limits = Limits { calls: 2, ..Limits::default() };
    let look = ("Glob", r#"{"pattern": "*"}"#);
    let answer = house.run(&scripted([Turn::calls([look; 5])]));
    assert_eq!((answer.ended.outcome, answer.ended.calls), (Outcome::Partial, 2));
    let results = house.results();
    assert_eq!(
        results.iter().filter(|text| text.contains("this call was not made")).count(),
        3,
        "{results:?}"
    );
}

#[test]
fn a_command_ends_when_the_time_of_the_run_is_up() {
    let mut house = House::new();
    house.limits = Limits { time: Some(Duration::from_secs(1)), ..Limits::default() };
    let model =
        scripted([Turn::calls([("Bash", r#"{"command": "echo begun; sleep 60"}"#)]), Turn::says("never")]);
    let began = std::time::Instant::now();
    let answer = house.run(&model);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert_eq!(answer.ended.outcome, Outcome::Partial);
    assert!(answer.ended.why.unwrap().ends_with("the limit is 1"));
    assert!(house.results()[0].contains("begun"), "{:?}", house.results());
}

#[test]
fn an_end_that_is_none_is_told_in_words() {
    let check = |text: &str, stop: Stop, outcome: Outcome, why: Option<&str>| {
        let mut turn = Turn::default();
        if !text.is_empty() {
            turn = turn.then(Step::Event(Event::Text(text.to_owned())));
        }
        let answer = House::new().run(&scripted([turn.ends(stop.clone())]));
        assert_eq!((answer.ended.outcome, answer.ended.why.as_deref()), (outcome, why), "{stop:?}");
    };
    check("part", Stop::EndOfTurn, Outcome::Done, None);
    check("part", Stop::Other("eos_token".into()), Outcome::Done, None);
    check("", Stop::EndOfTurn, Outcome::Failed, Some("the model's answer is empty"));
    let declined = "the model declined to answer (content_filter)";
    check("part", Stop::Refused("content_filter".into()), Outcome::Failed, Some(declined));
    let broken = "the model broke its answer off (MALFORMED_FUNCTION_CALL: no)";
    check("part", Stop::Other("MALFORMED_FUNCTION_CALL: no".into()), Outcome::Failed, Some(broken));
    let failed = "the model broke its answer off (failed)";
    check("part", Stop::Failed, Outcome::Failed, Some(failed));
    check("part", Stop::Other("failed".into()), Outcome::Failed, Some(failed));
    // Behind work that was done there may be nothing left to say.
    let house = House::new();
    let quiet = Turn::default().ends(Stop::EndOfTurn);
    let answer = house.run(&scripted([Turn::calls([("Glob", r#"{"pattern": "*"}"#)]), quiet]));
    assert_eq!(answer.ended.outcome, Outcome::Done);
}

#[test]
fn that_the_provider_is_asked_again_is_known_before_the_wait() {
    let house = House::new();
    let again = Event::Retrying { attempt: 2, after: Duration::from_secs(1), why: "429".into() };
    let company = house.company();
    // Whoever hears of it stops it, and the model never says more.
    *house.seen.halt_at_retry.lock().unwrap() = Some(company.cancel.clone());
    let model = scripted([Turn::new([Step::Event(again), Step::Hang])]);
    let mut talk =
        Session::start(&house.agent(&model), house.setting(), UserMessage::new("please"), company).unwrap();
    assert_eq!(talk.run().unwrap().ended.outcome, Outcome::Cancelled);
    let events = house.seen.events.lock().unwrap();
    let attempt = events.iter().find_map(|kind| match kind {
        EventKind::Retrying { attempt, after_ms, .. } => Some((*attempt, *after_ms)),
        _ => None,
    });
    assert_eq!(attempt, Some((1, 1_000)), "the first attempt failed");
}

#[test]
fn stopping_in_the_middle_of_an_answer_gives_what_had_come() {
    let house = House::new();
    let steps = [Step::Event(Event::Text("half an".into())), Step::Hang];
    let model = scripted([Turn::new(steps)]);
    let company = house.company();
    *house.seen.halt.lock().unwrap() = Some(company.cancel.clone());
    let mut talk =
        Session::start(&house.agent(&model), house.setting(), UserMessage::new("please"), company).unwrap();
    let answer = talk.run().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Cancelled);
    assert_eq!(answer.ended.text, "half an");
}

#[test]
fn stopping_while_a_command_runs_ends_it() {
    let house = House::new();
    let model = scripted([
        Turn::calls([("Bash", r#"{"command": "sleep 60"}"#), ("Bash", r#"{"command": "echo later"}"#)]),
        Turn::says("never"),
    ]);
    let company = house.company();
    let halt = company.cancel.clone();
    let mut talk =
        Session::start(&house.agent(&model), house.setting(), UserMessage::new("please"), company).unwrap();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        halt.cancel();
    });
    let began = std::time::Instant::now();
    let answer = talk.run().unwrap();
    stopper.join().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(house.results()[1].contains("stopped before this call"), "{:?}", house.results());
}

#[test]
fn a_model_that_fails_is_said_with_its_own_words() {
    let house = House::new();
    let error = ModelError::OffScript { why: "the provider is down".to_owned() };
    let answer = house.run(&scripted([Turn::fails(error)]));
    assert_eq!(answer.ended.outcome, Outcome::Failed);
    assert!(answer.ended.why.unwrap().contains("the provider is down"));
}

#[test]
fn what_takes_a_yes_that_nobody_can_give_is_told_with_the_rule() {
    let house = House::new();
    let model = scripted([
        Turn::calls([("Write", r#"{"file_path": "notes.md", "content": "x"}"#)]),
        Turn::calls([("Write", r#"{"file_path": "new.md", "content": "x"}"#)]),
        Turn::says("I may not."),
    ]);
    let answer = house.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::NeedsYes, "{:?}", house.results());
    assert_eq!(answer.needs.last().unwrap().rules, ["Write(new.md)"]);
    let events = house.seen.events.lock().unwrap();
    let has_changed =
        |kind: &EventKind| matches!(kind, EventKind::Finished(finished) if !finished.changes.is_empty());
    assert!(!events.iter().any(has_changed), "what was refused has changed nothing");
    assert_eq!(std::fs::read_to_string(house.workspace.join("project/notes.md")).unwrap(), "one\n");
}

#[test]
fn somebody_who_is_there_can_let_it_go_on_over_a_limit() {
    struct Patient;
    impl Observer for Patient {
        fn limit_hit(&self, reached: &LimitHit) -> metier_agent::OnLimit {
            assert_eq!(reached.to_string(), "the model was asked once, the limit is 1");
            metier_agent::OnLimit::Extend
        }
    }
    let mut house = House::new();
    house.limits = Limits { turns: 1, ..Limits::default() };
    let model = scripted([Turn::calls([("Glob", r#"{"pattern": "*"}"#)]), Turn::says("done")]);
    let company = RunHooks { observer: Arc::new(Patient), ..house.company() };
    let mut talk =
        Session::start(&house.agent(&model), house.setting(), UserMessage::new("please"), company).unwrap();
    assert_eq!(talk.run().unwrap().ended.outcome, Outcome::Done);
}
