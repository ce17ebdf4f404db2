//! Going on after the process ended, at whatever moment that was.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use metier_agent::{Limits, RetryDecision, Session, SessionError, UserMessage};
use metier_policy::Answer;
use metier_store::{Effect, EventKind, Export, Finished, Outcome, Store};
use metier_testkit::Workspace;
use serde_json::json;

use crate::resume_place::{
    Act, Acting, Place, asked, assert_pairs, begun, called, calling, company, finished, onlooker, texts,
};

fn write(text: &str) -> (&'static str, serde_json::Value) {
    ("Write", json!({"file_path": "new.md", "content": text}))
}

fn read() -> (&'static str, serde_json::Value) {
    ("Read", json!({"file_path": "notes.md"}))
}

#[test]
fn a_look_that_was_begun_is_made_again_and_so_is_what_was_never_begun() {
    let place = Place::new(Workspace::new());
    let model = Acting::script([]);
    let agent = place.agent(&model);
    let kinds = [asked(1), calling(&[read(), read()]), called("1", "Read", Effect::ReadOnly)];
    let id = place.killed_after(&agent, "please", kinds);
    let watcher = onlooker(RetryDecision::Unanswered);
    let mut resumed = place.resume(&agent, id, &watcher);
    assert_eq!((resumed.has_work, resumed.uncertain.len()), (true, 0));
    let answer = resumed.session.run().unwrap();
    assert_eq!((answer.ended.outcome, answer.ended.text.as_str()), (Outcome::Done, "done"));
    let request = model.asked().pop().unwrap();
    assert_pairs(&request.messages);
    assert_eq!(texts(&request.messages).iter().filter(|text| text.contains("1\tone")).count(), 2);
    assert!(watcher.begun.lock().unwrap().is_empty());
}

#[test]
fn what_may_have_happened_is_not_done_again_without_a_yes() {
    let place = Place::new(Workspace::new());
    let model = Acting::script([]);
    let agent = place.agent_with(&model, |skills| skills.allow("Write(new.md)"));
    let kinds = [asked(1), calling(&[write("two\n")]), called("1", "Write", Effect::Writes)];
    let id = place.killed_after(&agent, "please", kinds);
    assert!(!place.store.is_at_work(id) && place.store.session(id).unwrap().outcome.is_none());
    assert_eq!(begun(&place.store, id)[0].0.tool, "Write");

    // Nobody is there: it ends, names the step, and nothing has happened. So it does the next time.
    for _ in 0..2 {
        let mut resumed = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered));
        assert_eq!(resumed.uncertain[0].tool, "Write");
        let answer = resumed.session.run().unwrap();
        assert_eq!(answer.ended.outcome, Outcome::NeedsYes);
        assert!(answer.ended.why.unwrap().contains("Write {\"file_path\":\"new.md\""));
        assert!(answer.needs[0].action.starts_with("Write "));
        assert_eq!(place.holds("project/new.md"), "");
        assert!(model.asked().is_empty(), "the model is not asked before it is settled");
    }

    // Somebody says yes.
    let watcher = onlooker(RetryDecision::Retry);
    let answer = place.resume(&agent, id, &watcher).session.run().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Done);
    assert_eq!(place.holds("project/new.md"), "two\n");
    assert_eq!(watcher.begun.lock().unwrap().len(), 1);
    assert_pairs(&model.asked()[0].messages);
}

#[test]
fn a_no_is_told_to_the_model_and_the_very_same_call_still_takes_a_yes() {
    let place = Place::new(Workspace::new());
    let again = || Act::call("Write", json!({"file_path": "new.md", "content": "two\n"}));
    let other = Act::call("Write", json!({"file_path": "new.md", "content": "three\n"}));
    let model = Acting::script([again(), Act::says("I leave it."), again(), other]);
    let agent = place.agent_with(&model, |skills| skills.allow("Write(new.md)"));
    let kinds = [asked(1), calling(&[write("two\n")]), called("1", "Write", Effect::Writes)];
    let id = place.killed_after(&agent, "please", kinds);
    let answer = place.resume(&agent, id, &onlooker(RetryDecision::Skip)).session.run().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Done);
    let first = texts(&model.asked()[0].messages);
    assert!(first.last().unwrap().contains("it may have run"), "{first:#?}");
    assert_eq!(place.holds("project/new.md"), "");

    // Also in the next process, where nobody can be asked.
    let mut resumed = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered));
    assert!(!resumed.has_work);
    let answer = resumed.session.send(UserMessage::new("go on")).unwrap();
    assert_eq!(place.holds("project/new.md"), "three\n", "another call is another step");
    assert_eq!(answer.ended.outcome, Outcome::Done);
    let results = texts(&model.asked().last().unwrap().messages);
    assert_eq!(results.iter().filter(|text| text.contains("it may have run")).count(), 3, "{results:#?}");
}

#[test]
fn whoever_says_something_else_gets_a_conversation_in_which_every_call_has_its_result() {
    let place = Place::new(Workspace::new());
    let model = Acting::script([]);
    let agent = place.agent(&model);
    let kinds = [asked(1), calling(&[write("x"), read()]), called("1", "Write", Effect::Writes)];
    let id = place.killed_after(&agent, "please", kinds);
    let mut resumed = place.resume(&agent, id, &onlooker(RetryDecision::Retry));
    resumed.session.send(UserMessage::new("never mind")).unwrap();
    let request = model.asked().pop().unwrap();
    assert_pairs(&request.messages);
    let texts = texts(&request.messages);
    assert!(texts.iter().any(|text| text.contains("may have run")));
    assert!(texts.iter().any(|text| text.contains("This call was not made")));
    assert!(texts.last().unwrap().starts_with("user: never mind"), "{texts:#?}");
    assert_eq!(place.holds("project/new.md"), "");
}

#[test]
fn an_end_that_was_not_written_is_written_without_asking_the_model_again() {
    let place = Place::new(Workspace::new());
    let model = Acting::script([]);
    let agent = place.agent(&model);
    let said = metier_store::Answered {
        turn: 1,
        parts: vec![metier_store::Part::Text { text: "That is all.".into() }],
        stop: Some("end_of_turn".into()),
        ..Default::default()
    };
    let id = place.killed_after(&agent, "please", [asked(1), EventKind::Answered(said)]);
    let mut resumed = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered));
    assert!(resumed.has_work);
    let answer = resumed.session.run().unwrap();
    assert_eq!((answer.ended.outcome, answer.ended.text.as_str()), (Outcome::Done, "That is all."));
    assert!(model.asked().is_empty());
}

#[test]
fn a_process_that_ended_before_anything_was_sent_begins_with_a_new_frame() {
    let place = Place::new(Workspace::new().skill("skills/greet", "Greets somebody."));
    let model = Acting::script([]);
    let agent = place.agent(&model);
    let started = metier_store::Started { request: "greet Ada".into(), ..Default::default() };
    let id = place.store.begin(started).unwrap();
    let answer = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered)).session.run().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Done);
    let request = model.asked().pop().unwrap();
    assert!(request.system.iter().any(|text| text.contains("greet")));
    assert!(texts(&request.messages)[0].starts_with("user: greet Ada"));
    let names: Vec<bool> =
        place.kinds(id).iter().map(|kind| matches!(kind, EventKind::Offered { .. })).collect();
    assert_eq!(names.iter().filter(|is_offer| **is_offer).count(), 1);
}

#[test]
fn one_works_on_a_session_at_a_time_and_a_second_message_is_told_that_it_is_busy() {
    let place = Place::new(Workspace::new());
    let model = Acting::script([]);
    let agent = place.agent(&model);
    let watcher = onlooker(RetryDecision::Unanswered);
    let mut talk = place.begin(&agent, "please");
    let id = talk.id();
    let busy = Session::resume(&agent, place.setting(), id, company(&watcher)).unwrap_err();
    assert!(matches!(busy, SessionError::Busy(session) if session == id));
    assert!(busy.to_string().contains("is busy with the last message"), "{busy}");
    assert!(place.store.is_at_work(id));
    talk.run().unwrap();
    // While it rests another may go on, and it takes up what that one said.
    talk.rest();
    let mut other = place.resume(&agent, id, &watcher).session;
    other.send(UserMessage::new("from the other one")).unwrap();
    assert!(matches!(talk.send(UserMessage::new("now")), Err(SessionError::Busy(_))));
    drop(other);
    talk.send(UserMessage::new("and from this one")).unwrap();
    let last = texts(&model.asked().pop().unwrap().messages);
    assert!(last.iter().any(|text| text == "user: from the other one"), "{last:#?}");
    let seqs: Vec<u64> = place
        .store
        .events(&metier_store::EventQuery::of(id))
        .unwrap()
        .iter()
        .map(|event| event.seq)
        .collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

#[test]
fn what_was_spent_before_counts_and_so_does_what_failed() {
    let mut place = Place::new(Workspace::new());
    place.limits = Limits { turns: 3, ..Limits::default() };
    let model = Acting::new(|_| Act::call("Glob", json!({"pattern": "*"})));
    let agent = place.agent(&model);
    let look = || calling(&[("Glob", json!({"pattern": "*"}))]);
    let kinds = [
        asked(1),
        look(),
        called("1", "Glob", Effect::ReadOnly),
        finished("1", "x"),
        asked(2),
        look(),
        called("1", "Glob", Effect::ReadOnly),
        finished("1", "x"),
    ];
    let id = place.killed_after(&agent, "please", kinds);
    let answer = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered)).session.run().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Partial);
    assert_eq!((model.asked().len(), answer.ended.turns, answer.ended.calls), (1, 3, 3));

    // The same call failed twice before; a third time is enough.
    place.limits = Limits::default();
    let failing = || calling(&[("Read", json!({"file_path": "no such file"}))]);
    let failed = || {
        EventKind::Finished(Finished {
            id: "1".into(),
            text: "no".into(),
            is_error: true,
            ..Finished::default()
        })
    };
    let model = Acting::new(|_| Act::call("Read", json!({"file_path": "no such file"})));
    let agent = place.agent(&model);
    let once = || [asked(1), failing(), called("1", "Read", Effect::ReadOnly), failed()];
    let id = place.killed_after(&agent, "please", once().into_iter().chain(once()));
    let answer = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered)).session.run().unwrap();
    assert_eq!(answer.ended.why.unwrap(), "the same call failed 3 times in a row");
    assert_eq!(model.asked().len(), 1);
}

const FENCED: &str = "---\nname: fenced\ndescription: Looks only. Use when looking.\ntools: [Read]\n---\nLook at $ARGUMENTS.\n";

#[test]
fn active_skills_have_their_scopes_again_and_their_texts_are_known_to_be_there() {
    let place = Place::new(Workspace::new().file("skills/fenced/SKILL.md", FENCED));
    let use_it = || Act::call("skill_use", json!({"skill_name": "fenced", "arguments": "it"}));
    let bash = || Act::call("Bash", json!({"command": "echo ran"}));
    let model = Acting::script([
        use_it(),
        Act::Fails(metier_model::ModelError::OffScript { why: "down".into() }),
        bash(),
        use_it(),
    ]);
    let agent = place.agent(&model);
    let mut talk = place.begin(&agent, "please");
    talk.run().unwrap();
    let id = talk.id();
    drop(talk);
    let mut resumed = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered));
    assert!(resumed.has_work);
    assert!(resumed.gone.is_empty());
    resumed.session.run().unwrap();
    let last = texts(&model.asked().pop().unwrap().messages);
    assert!(last.iter().any(|text| text.contains("lets only `Read` be called")), "{last:#?}");
    assert!(last.iter().any(|text| text.contains("is in this conversation already")), "{last:#?}");
    assert_eq!(last.iter().filter(|text| text.contains("Look at it.")).count(), 1);
    drop(resumed);

    // Once the user speaks the fence is over, also when that is in another process.
    let model = Acting::script([bash()]);
    let agent = place.agent(&model);
    place
        .resume(&agent, id, &onlooker(RetryDecision::Unanswered))
        .session
        .send(UserMessage::new("run it"))
        .unwrap();
    let last = texts(&model.asked().pop().unwrap().messages);
    assert_eq!(last.last().unwrap(), "result: ran");
    // A skill that is gone is said.
    std::fs::remove_dir_all(place.workspace.join("skills/fenced")).unwrap();
    let resumed = place.resume(&place.agent(&model), id, &onlooker(RetryDecision::Unanswered));
    assert_eq!(resumed.gone, ["fenced"]);
}

#[test]
fn what_was_allowed_for_the_session_is_allowed_when_it_goes_on_but_not_in_a_strangers_file() {
    let place = Place::new(Workspace::new());
    let writes = |text: &str| Act::call("Write", json!({"file_path": "notes.md", "content": text}));
    let reads = || Act::call("Read", json!({"file_path": "notes.md"}));
    let questions = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&questions);
    let ask = move |_: &metier_runtime::ApprovalRequest<'_>| {
        asked.fetch_add(1, Ordering::SeqCst);
        Answer::SessionExact
    };
    let model = Acting::script([reads(), writes("two\n"), Act::says("ok"), reads(), writes("three\n")]);
    let agent = place.agent_with(&model, |skills| skills.ask(ask));
    let mut talk = place.begin(&agent, "please");
    talk.run().unwrap();
    let id = talk.id();
    drop(talk);
    assert_eq!((questions.load(Ordering::SeqCst), place.holds("project/notes.md").as_str()), (1, "two\n"));

    let mut exported = Vec::new();
    place.store.export(&Export::Everything, &mut exported).unwrap();
    // Here nobody can be asked: only what was allowed before goes.
    let nobody = place.agent(&model);
    place
        .resume(&nobody, id, &onlooker(RetryDecision::Unanswered))
        .session
        .send(UserMessage::new("again"))
        .unwrap();
    assert_eq!(place.holds("project/notes.md"), "three\n");

    let mut elsewhere = Place::new(Workspace::new());
    elsewhere.store = Store::in_memory().unwrap();
    elsewhere.store.import(&mut exported.as_slice()).unwrap();
    let model = Acting::script([reads(), writes("four\n")]);
    let agent = elsewhere.agent(&model);
    elsewhere
        .resume(&agent, id, &onlooker(RetryDecision::Unanswered))
        .session
        .send(UserMessage::new("again"))
        .unwrap();
    assert_eq!(elsewhere.holds("project/notes.md"), "one\n");
}

#[test]
fn an_activation_that_had_come_to_nothing_is_made_again_and_asked_about_only_where_it_runs_commands() {
    let skill = |more: &str, body: &str| format!("---\nname: s\ndescription: Is used.\n{more}---\n{body}\n");
    for (more, body, expect) in [
        ("", "Read this.", Outcome::Done),
        ("context: fork\n", "Read this.", Outcome::Done),
        ("", "It is !`date`.", Outcome::NeedsYes),
        ("context: fork\n", "It is !`date`.", Outcome::NeedsYes),
    ] {
        let place = Place::new(Workspace::new().file("skills/s/SKILL.md", skill(more, body)));
        let model = Acting::script([]);
        let agent = place.agent(&model);
        let kinds = [
            asked(1),
            calling(&[("skill_use", json!({"skill_name": "s"}))]),
            called("1", "skill_use", Effect::Runs),
        ];
        let id = place.killed_after(&agent, "please", kinds);
        let mut resumed = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered));
        assert_eq!(resumed.uncertain.len(), usize::from(expect == Outcome::NeedsYes), "{more}{body}");
        assert_eq!(resumed.session.run().unwrap().ended.outcome, expect, "{more}{body}");
    }
}
