//! A session that waits for a person: questions are events, and the answer may come from anywhere and any time later.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use metier_agent::{
    Agent, RetryDecision, Session, SessionError, UserMessage, answer_approval, open_approvals,
};
use metier_policy::{Answer, Mode};
use metier_runtime::{ApprovalReply, ApprovalRequest, SkillsBuilder};
use metier_store::{ApprovalStage, Effect, EventKind, Outcome, SessionId};
use metier_testkit::Workspace;
use serde_json::json;

use crate::resume_place::{Act, Acting, Place, asked, assert_pairs, called, calling, onlooker, texts};

/// A host that cannot ask at once, with how often it was asked.
struct LaterHost {
    place: Place,
    model: Arc<Acting>,
    requests: Arc<AtomicUsize>,
    mode: Mode,
    ask_about: Option<&'static str>,
}

impl LaterHost {
    fn new(workspace: Workspace, acts: impl IntoIterator<Item = Act>) -> Self {
        let (place, model) = (Place::new(workspace), Acting::script(acts));
        Self { place, model, requests: Arc::default(), mode: Mode::Ask, ask_about: None }
    }

    fn agent(&self) -> Agent {
        let requests = Arc::clone(&self.requests);
        self.place.agent_with(&self.model, |skills: SkillsBuilder| {
            let skills = self.ask_about.into_iter().fold(skills, SkillsBuilder::ask_about);
            skills.mode(self.mode).ask(move |_: &ApprovalRequest<'_>| {
                requests.fetch_add(1, Ordering::SeqCst);
                ApprovalReply::Later
            })
        })
    }

    /// Runs a message until the session waits.
    fn wait(&self) -> SessionId {
        let mut session = self.place.begin(&self.agent(), "please");
        let answer = session.run().unwrap();
        assert_eq!(answer.ended.outcome, Outcome::NeedsYes, "{answer:?}");
        session.id()
    }

    /// The one approval that the session waits for, and its session.
    fn open(&self, id: SessionId) -> (SessionId, String) {
        let open = open_approvals(&self.place.store, id).unwrap();
        let [open] = &open[..] else { panic!("{open:?}") };
        (open.session, open.call.clone())
    }

    fn resume(&self, id: SessionId) -> Session {
        let resumed = self.place.resume(&self.agent(), id, &onlooker(RetryDecision::Unanswered));
        assert!(resumed.has_work);
        assert!(resumed.uncertain.is_empty(), "{:?}", resumed.uncertain);
        resumed.session
    }
}

fn write(text: &str) -> Act {
    Act::call("Write", json!({ "file_path": "new.md", "content": text }))
}

#[test]
fn a_call_waits_in_the_store_and_runs_once_it_is_approved() {
    let host = LaterHost::new(Workspace::new(), [write("two\n"), Act::says("Done.")]);
    let id = host.wait();
    assert_eq!((host.place.holds("project/new.md").as_str(), host.model.asked().len()), ("", 1));
    let kinds = host.place.kinds(id);
    let is_requested = |kind: &EventKind| {
        matches!(kind, EventKind::ApprovalRequested { call: Some(_), stage: ApprovalStage::Before, .. })
    };
    assert!(
        kinds.iter().any(is_requested) && !kinds.iter().any(|kind| matches!(kind, EventKind::Finished(_)))
    );

    let (session, call) = host.open(id);
    assert_eq!(session, id);
    answer_approval(&host.place.store, id, &call, Answer::Once).unwrap();
    let again = answer_approval(&host.place.store, id, &call, Answer::Once).unwrap_err();
    assert!(matches!(again, SessionError::NotAsked(_)), "{again}");
    let answer = host.resume(id).run().unwrap();
    assert_eq!((answer.ended.outcome, answer.ended.text.as_str()), (Outcome::Done, "Done."));
    assert_eq!(host.place.holds("project/new.md"), "two\n");
    assert_eq!(host.requests.load(Ordering::SeqCst), 1, "the answer was not asked for again");
    assert_pairs(&host.model.asked().last().unwrap().messages);
}

#[test]
fn an_approval_for_once_is_for_that_call_alone() {
    let make = || Act::call("Bash", json!({ "command": "true", "timeout": 5 }));
    let host = LaterHost::new(Workspace::new(), [make(), make(), make(), Act::says("Done.")]);
    let host = LaterHost { mode: Mode::Strict, ..host };
    let id = host.wait();
    for (answer, requests) in [(Answer::Once, 2), (Answer::SessionExact, 2)] {
        let (_, call) = host.open(id);
        answer_approval(&host.place.store, id, &call, answer).unwrap();
        let ended = host.resume(id).run().unwrap().ended;
        assert_eq!(host.requests.load(Ordering::SeqCst), requests, "{answer:?}");
        let expect = if answer == Answer::Once { Outcome::NeedsYes } else { Outcome::Done };
        assert_eq!(ended.outcome, expect, "{answer:?}: {ended:?}");
    }
}

#[test]
fn a_no_is_told_to_the_model_and_nothing_happens() {
    let host = LaterHost::new(Workspace::new(), [write("two\n"), Act::says("Then not.")]);
    let id = host.wait();
    let (_, call) = host.open(id);
    answer_approval(&host.place.store, id, &call, Answer::No).unwrap();
    let answer = host.resume(id).run().unwrap();
    assert_eq!((answer.ended.text.as_str(), host.place.holds("project/new.md").as_str()), ("Then not.", ""));
    assert_eq!(host.requests.load(Ordering::SeqCst), 1);
    let last = host.model.asked().pop().unwrap();
    assert!(texts(&last.messages).last().unwrap().contains("refused"), "{:#?}", texts(&last.messages));
}

#[test]
fn another_message_of_the_user_leaves_the_call_unmade() {
    let host = LaterHost::new(Workspace::new(), [write("two\n"), Act::says("Fine.")]);
    let id = host.wait();
    host.resume(id).send(UserMessage::new("never mind")).unwrap();
    assert_eq!(host.place.holds("project/new.md"), "");
    let last = host.model.asked().pop().unwrap();
    assert_pairs(&last.messages);
    assert!(texts(&last.messages).iter().any(|text| text.contains("it needed an approval")));
    assert_eq!(open_approvals(&host.place.store, id).unwrap(), []);
}

#[test]
fn a_process_that_died_while_it_asked_asks_again() {
    let host = LaterHost::new(Workspace::new(), []);
    let input = ("Write", json!({ "file_path": "new.md", "content": "two\n" }));
    let id = host.wait_after_kill(&input);
    let mut session = host.resume(id);
    assert_eq!(session.run().unwrap().ended.outcome, Outcome::NeedsYes);
    assert_eq!(host.requests.load(Ordering::SeqCst), 1);
    drop(session);
    let (_, call) = host.open(id);
    answer_approval(&host.place.store, id, &call, Answer::Once).unwrap();
    host.resume(id).run().unwrap();
    assert_eq!(host.place.holds("project/new.md"), "two\n");
}

impl LaterHost {
    /// A session whose process was killed while a person was asked about a call.
    fn wait_after_kill(&self, input: &(&'static str, serde_json::Value)) -> SessionId {
        let first = LaterHost::new(Workspace::new(), [Act::call(input.0, input.1.clone())]);
        let requested = first.place.kinds(first.wait()).into_iter();
        let requested = requested.filter(|kind| matches!(kind, EventKind::ApprovalRequested { .. }));
        let requested = requested.map(|kind| match kind {
            EventKind::ApprovalRequested { question, action, stage, .. } => {
                EventKind::ApprovalRequested { call: Some("1".into()), question, action, stage }
            }
            other => other,
        });
        let kinds = [asked(1), calling(std::slice::from_ref(input)), called("1", input.0, Effect::Writes)];
        self.place.killed_after(&self.agent(), "please", kinds.into_iter().chain(requested))
    }
}

/// A skill that runs in a sub-agent.
fn notes() -> Workspace {
    let skill = "---\nname: notes\ndescription: Takes notes.\ncontext: fork\n---\nWrite it down.\n";
    Workspace::new().file("skills/notes/SKILL.md", skill)
}

#[test]
fn the_start_of_a_sub_agent_waits_for_its_approval() {
    let start = || Act::call("skill_use", json!({ "skill_name": "notes" }));
    let host = LaterHost::new(notes(), [start(), Act::says("Written."), Act::says("All done.")]);
    let host = LaterHost { ask_about: Some("skill:notes"), ..host };
    let id = host.wait();
    let (session, call) = host.open(id);
    assert_eq!(session, id);
    answer_approval(&host.place.store, id, &call, Answer::Once).unwrap();
    let answer = host.resume(id).run().unwrap();
    assert_eq!((answer.ended.outcome, answer.ended.text.as_str()), (Outcome::Done, "All done."));
    assert_eq!(host.requests.load(Ordering::SeqCst), 1);
}

#[test]
fn a_sub_agent_waits_and_its_parent_with_it() {
    let acts = [
        Act::call("skill_use", json!({ "skill_name": "notes" })),
        write("two\n"),
        Act::says("Written."),
        Act::says("All done."),
    ];
    let host = LaterHost::new(notes(), acts);
    let id = host.wait();
    let (child, call) = host.open(id);
    assert_ne!(child, id);
    assert!(matches!(
        answer_approval(&host.place.store, id, &call, Answer::Once),
        Err(SessionError::NotAsked(_))
    ));
    answer_approval(&host.place.store, child, &call, Answer::Once).unwrap();
    let answer = host.resume(id).run().unwrap();
    assert_eq!((answer.ended.outcome, answer.ended.text.as_str()), (Outcome::Done, "All done."));
    assert_eq!(host.place.holds("project/new.md"), "two\n");
}
