//! Children that were at work when the process ended: they go on from their own last finished step.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use metier_agent::{Agent, RetryDecision, Session, UserMessage};
use metier_model::{Message, Request};
use metier_policy::{Answer, Mode};
use metier_store::{By, EventKind, EventQuery, Export, Family, Outcome, SessionFilter, SessionId, Store};
use metier_testkit::Workspace;
use serde_json::json;

use crate::resume_place::{Act, Acting, Place, company, onlooker, texts};

const CLERK: &str =
    "---\nname: clerk\ndescription: Writes two files. Use for files.\ncontext: fork\nMORE---\nWrite them.\n";

fn place(more: &str) -> Place {
    Place::new(Workspace::new().file("skills/clerk/SKILL.md", CLERK.replace("MORE", more)))
}

fn is_child(request: &Request) -> bool {
    request.system.iter().any(|text| text.contains("# Skill: clerk"))
}

fn turn(request: &Request) -> usize {
    request.messages.iter().filter(|message| matches!(&***message, Message::Assistant(_))).count()
}

fn write(file: &str) -> Act {
    Act::call("Write", json!({"file_path": file, "content": "written\n"}))
}

/// A parent that has a child write two files, one after the other.
fn clerks() -> Arc<Acting> {
    Acting::new(|request| match (is_child(request), turn(request)) {
        (false, 0) => Act::call("skill_use", json!({"skill_name": "clerk", "arguments": "now"})),
        (false, _) => Act::says("It is done."),
        (true, 0) => write("a.md"),
        (true, 1) => write("b.md"),
        (true, _) => Act::says("Both are there."),
    })
}

fn agent(place: &Place, model: &Arc<Acting>) -> Agent {
    place.agent_with(model, |skills| skills.allow("Write(*.md)").allow("write:*.md"))
}

fn children(store: &Store, of: SessionId) -> Vec<SessionId> {
    let filter = SessionFilter { family: Family::ChildOf(of), ..SessionFilter::default() };
    store.sessions(&filter).unwrap().into_iter().map(|summary| summary.id).collect()
}

/// Whether an event is the last one that was written.
type Until<'a> = &'a dyn Fn(&EventKind) -> bool;

/// The same sessions in another store, each only as far as it had come when the process was killed.
fn killed(place: &mut Place, sessions: [(SessionId, Until<'_>); 2]) {
    let store = Store::in_memory().unwrap();
    for (id, is_last) in sessions {
        let mut kinds = place.kinds(id).into_iter();
        let Some(EventKind::Started(started)) = kinds.next() else { panic!("`started` comes first") };
        store.begin_as(id, started).unwrap();
        for kind in kinds {
            let is_last = is_last(&kind);
            store.append(id, kind).unwrap();
            if is_last {
                break;
            }
        }
    }
    place.store = store;
}

fn has_begun(file: &'static str) -> impl Fn(&EventKind) -> bool {
    move |kind| matches!(kind, EventKind::Called(called) if called.input["file_path"] == file)
}

fn child_began(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ChildBegan { .. })
}

/// Runs it whole, and then as if it had been killed: `a.md` has something else since, and `b.md` is not there.
fn killed_at(place: &mut Place, child_until: Until<'_>) -> (SessionId, SessionId) {
    let model = clerks();
    let agent = agent(place, &model);
    let mut talk = place.begin(&agent, "please");
    assert_eq!(talk.run().unwrap().ended.outcome, Outcome::Done);
    let id = talk.id();
    drop(talk);
    let child = children(&place.store, id)[0];
    killed(place, [(id, &child_began), (child, child_until)]);
    std::fs::write(place.workspace.join("project/a.md"), "changed since\n").unwrap();
    std::fs::remove_file(place.workspace.join("project/b.md")).unwrap();
    (id, child)
}

#[test]
fn only_the_unfinished_step_of_a_child_takes_a_yes_and_what_it_had_done_is_not_done_again() {
    let mut place = place("");
    let (id, child) = killed_at(&mut place, &has_begun("b.md"));
    let model = clerks();
    let agent = agent(&place, &model);
    for _ in 0..2 {
        let mut resumed = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered));
        let begun: Vec<_> =
            resumed.uncertain.iter().map(|begun| (begun.tool.as_str(), begun.child)).collect();
        assert_eq!(begun, [("Write", Some(child))], "the child's own step, not the call that began it");
        let answer = resumed.session.run().unwrap();
        assert_eq!(answer.ended.outcome, Outcome::NeedsYes);
        let why = answer.ended.why.unwrap();
        assert!(why.contains("needs your approval to run again: Write {\"file_path\":\"b.md\""), "{why}");
        assert!(answer.needs[0].action.starts_with("Write "), "{:?}", answer.needs);
        assert_eq!(place.holds("project/b.md"), "");
        assert!(model.asked().is_empty(), "nobody is asked before it is settled");
    }
    let watcher = onlooker(RetryDecision::Retry);
    let answer = place.resume(&agent, id, &watcher).session.run().unwrap();
    assert_eq!((answer.ended.outcome, answer.ended.text.as_str()), (Outcome::Done, "It is done."));
    assert_eq!(watcher.begun.lock().unwrap().len(), 1);
    assert_eq!(place.holds("project/a.md"), "changed since\n", "a finished step is not done again");
    assert_eq!(place.holds("project/b.md"), "written\n");
    assert_eq!(children(&place.store, id), [child], "it is the same child");
    let told = texts(&model.asked().pop().unwrap().messages);
    assert!(told.iter().any(|text| text.contains("[skill clerk: complete")), "{told:#?}");
    assert!(told.iter().any(|text| text.contains("Both are there.")), "{told:#?}");
    assert!(!place.resume(&agent, id, &watcher).has_work);
}

#[test]
fn a_no_is_told_to_the_child_which_goes_on() {
    let mut place = place("");
    let (id, _) = killed_at(&mut place, &has_begun("b.md"));
    let model = clerks();
    let agent = agent(&place, &model);
    let answer = place.resume(&agent, id, &onlooker(RetryDecision::Skip)).session.run().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Done);
    assert_eq!(place.holds("project/b.md"), "");
    let first = &model.asked()[0];
    assert!(is_child(first));
    assert!(texts(&first.messages).last().unwrap().contains("it may have run"));
}

#[test]
fn a_child_between_two_steps_goes_on_without_a_question() {
    let mut place = place("");
    let finished = |kind: &EventKind| matches!(kind, EventKind::Finished(_));
    let (id, child) = killed_at(&mut place, &finished);
    let model = clerks();
    let agent = agent(&place, &model);
    let mut resumed = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered));
    assert!(resumed.uncertain.is_empty(), "{:?}", resumed.uncertain);
    assert_eq!(resumed.session.run().unwrap().ended.outcome, Outcome::Done);
    let (a, b) = (place.holds("project/a.md"), place.holds("project/b.md"));
    assert_eq!((a.as_str(), b.as_str()), ("changed since\n", "written\n"));
    // What it used before counts: three turns of the child, whatever process they were in.
    let ended = place.kinds(child).into_iter().find_map(|kind| match kind {
        EventKind::Ended(ended) => Some(ended),
        _ => None,
    });
    let ended = ended.unwrap();
    assert_eq!((ended.turns, ended.calls), (3, 2));
}

#[test]
fn a_child_that_was_over_before_its_parent_took_note_is_not_run_again() {
    let mut place = place("");
    let (id, child) = killed_at(&mut place, &|_| false);
    let model = clerks();
    let agent = agent(&place, &model);
    let mut resumed = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered));
    assert!(resumed.uncertain.is_empty());
    assert_eq!(resumed.session.run().unwrap().ended.outcome, Outcome::Done);
    assert!(!model.asked().iter().any(is_child));
    assert_eq!(place.holds("project/b.md"), "");
    let ends: Vec<_> =
        place.kinds(id).into_iter().filter(|kind| matches!(kind, EventKind::ChildEnded { .. })).collect();
    assert!(
        matches!(ends[..], [EventKind::ChildEnded { child: of, outcome: Outcome::Done, .. }] if of == child)
    );
}

#[test]
fn a_child_in_the_background_goes_on_there() {
    let mut place = place("background: true\n");
    let (id, child) = killed_at(&mut place, &has_begun("b.md"));
    let model = clerks();
    let agent = agent(&place, &model);
    let mut resumed = place.resume(&agent, id, &onlooker(RetryDecision::Retry));
    assert_eq!(resumed.uncertain.iter().map(|begun| begun.child).collect::<Vec<_>>(), [Some(child)]);
    assert_eq!(resumed.session.run().unwrap().ended.outcome, Outcome::Done);
    let (a, b) = (place.holds("project/a.md"), place.holds("project/b.md"));
    assert_eq!((a.as_str(), b.as_str()), ("changed since\n", "written\n"));
    let told = texts(&model.asked().into_iter().rfind(|request| !is_child(request)).unwrap().messages);
    assert!(told.iter().any(|text| text.contains("Both are there.")), "{told:#?}");
}

#[test]
fn a_child_that_the_user_started_goes_on_and_is_the_answer() {
    let mut place = place("");
    let agent_before = agent(&place, &clerks());
    let mut talk = place.begin(&agent_before, "/clerk now");
    let answer = talk
        .send(UserMessage::Skill { by: By::User, name: "clerk".into(), arguments: "now".into() })
        .unwrap();
    assert_eq!((answer.ended.outcome, answer.ended.text.as_str()), (Outcome::Done, "Both are there."));
    let id = talk.id();
    drop(talk);
    let child = children(&place.store, id)[0];
    killed(&mut place, [(id, &child_began), (child, &has_begun("b.md"))]);
    std::fs::remove_file(place.workspace.join("project/b.md")).unwrap();
    let model = clerks();
    let agent = agent(&place, &model);
    let mut resumed = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered));
    assert_eq!(resumed.uncertain.len(), 1);
    assert_eq!(resumed.session.run().unwrap().ended.outcome, Outcome::NeedsYes);
    drop(resumed);
    let mut resumed = place.resume(&agent, id, &onlooker(RetryDecision::Retry));
    assert!(resumed.has_work);
    let answer = resumed.session.run().unwrap();
    assert_eq!((answer.ended.outcome, answer.ended.text.as_str()), (Outcome::Done, "Both are there."));
    assert!(model.asked().iter().all(is_child), "the child's answer is the answer");
    drop(resumed);
    assert!(!place.resume(&agent, id, &onlooker(RetryDecision::Retry)).has_work);
}

#[test]
fn a_child_whose_skill_is_gone_is_asked_about_whole() {
    let mut place = place("");
    let (id, child) = killed_at(&mut place, &has_begun("b.md"));
    std::fs::remove_dir_all(place.workspace.join("skills/clerk")).unwrap();
    let agent = agent(&place, &clerks());
    let answer = place.resume(&agent, id, &onlooker(RetryDecision::Unanswered)).session.run().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::NeedsYes);
    assert!(answer.ended.why.unwrap().contains("skill_use"), "{child}");
    assert_eq!(place.holds("project/b.md"), "");
}

/// A child asks for `echo hi`; then its parent wants the same.
fn echoes() -> Arc<Acting> {
    let echo = || Act::call("Bash", json!({"command": "echo hi"}));
    Acting::new(move |request| match (is_child(request), turn(request)) {
        (false, 0) => Act::call("skill_use", json!({"skill_name": "clerk"})),
        (true, 0) | (false, 2) => echo(),
        _ => Act::says("So."),
    })
}

#[test]
fn what_was_allowed_in_a_child_is_allowed_in_its_parent_when_that_goes_on_but_not_from_elsewhere() {
    let place = place("");
    let questions = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&questions);
    let ask = move |request: &metier_runtime::ApprovalRequest<'_>| {
        asked.fetch_add(usize::from(request.action.sentence().contains("echo")), Ordering::SeqCst);
        Answer::SessionExact
    };
    let agent = place.agent_with(&echoes(), |skills| skills.mode(Mode::Strict).ask(ask));
    let mut talk = place.begin(&agent, "please");
    talk.run().unwrap();
    let id = talk.id();
    drop(talk);
    assert_eq!(questions.load(Ordering::SeqCst), 1);
    let mut exported = Vec::new();
    place.store.export(&Export::Everything, &mut exported).unwrap();

    // Nobody can be asked here: only what was allowed before goes.
    let goes_on = |place: &Place| {
        let model = echoes();
        let agent = place.agent_with(&model, |skills| skills.mode(Mode::Strict));
        let mut talk =
            Session::resume(&agent, place.setting(), id, company(&onlooker(RetryDecision::Unanswered)))
                .unwrap()
                .session;
        talk.send(UserMessage::new("and you")).unwrap();
        texts(&model.asked().pop().unwrap().messages).pop().unwrap()
    };
    assert_eq!(goes_on(&place), "result: hi");
    let mut elsewhere = self::place("");
    elsewhere.store = Store::in_memory().unwrap();
    elsewhere.store.import(&mut exported.as_slice()).unwrap();
    assert_ne!(goes_on(&elsewhere), "result: hi");
    assert!(elsewhere.store.events(&EventQuery::of(id)).unwrap().len() > 5);
}
