//! A conversation that is longer than what its model can hold in mind.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use metier_agent::{Compaction, History, RetryDecision, Session, UserMessage};
use metier_model::{Message, ModelError, Request};
use metier_store::{EventKind, Outcome, SessionId};
use metier_testkit::Workspace;
use serde_json::json;

use crate::resume_place::{Act, Acting, Place, assert_pairs, company, onlooker, texts};

/// A window in which a few turns have room beside the catalogue and the tools.
const WINDOW: u64 = 14_000;

const SKILLS: usize = 5;

fn place() -> Place {
    let mut workspace =
        Workspace::new().file("project/long.txt", "a line of a file that is long\n".repeat(120));
    for number in 0..SKILLS {
        let body =
            format!("Work on $ARGUMENTS as skill {number} does.\n{}", format!("Rule {number}. ").repeat(60));
        let text = format!(
            "---\nname: skill-{number}\ndescription: Does work {number}. Use for work {number}.\n---\n{body}\n"
        );
        workspace = workspace.file(format!("skills/skill-{number}/SKILL.md"), text);
    }
    let mut place = Place::new(workspace);
    place.compaction = Compaction { window: Some(WINDOW), ..Compaction::default() };
    place
}

fn is_summary(request: &Request) -> bool {
    request.tools.is_empty()
}

/// What the model was last told, and by whom.
fn last_text(request: &Request) -> String {
    texts(&request.messages).pop().unwrap_or_default()
}

/// What the user said last.
fn said(request: &Request) -> usize {
    let texts = texts(&request.messages);
    let said =
        texts.iter().rev().find_map(|text| text.strip_prefix("user: turn ")?.split(' ').next()?.parse().ok());
    said.unwrap_or_else(|| panic!("no message of the user in {texts:#?}"))
}

/// Uses a skill in every third turn, reads a long file, then answers.
fn act(request: &Request) -> Act {
    if is_summary(request) {
        return Act::says("The user counts turns, and files were read.");
    }
    let turn = said(request);
    let last = last_text(request);
    let is_new = last.starts_with("user: turn ");
    if is_new && turn.is_multiple_of(3) {
        let name = format!("skill-{}", turn / 3 % SKILLS);
        return Act::call("skill_use", json!({"skill_name": name, "arguments": format!("turn {turn}")}));
    }
    if is_new || last.contains("<skill-context") {
        let read = json!({"file_path": "long.txt"});
        return Act::Calls(vec![("Read".into(), read), ("Glob".into(), json!({"pattern": "*.txt"}))]);
    }
    Act::says(&format!("Answer to turn {turn}."))
}

/// What the events say at one moment: texts of active and of finished skills.
#[derive(Default)]
struct Skills {
    active: Vec<String>,
    finished: Vec<(String, String)>,
    names: Vec<String>,
}

impl Skills {
    fn take(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Said { .. } => {
                self.finished.extend(self.names.drain(..).zip(self.active.drain(..)));
            }
            EventKind::Activated(activated) => {
                self.active.push(activated.message.clone());
                self.names.push(activated.skill.clone());
            }
            _ => {}
        }
    }
}

#[test]
fn two_hundred_turns_with_five_skills_in_a_small_window() {
    let place = place();
    let model = Acting::new(act);
    let agent = place.agent(&model);
    let mut talk = place.begin(&agent, "turn 0 of the work");
    assert_eq!(talk.run().unwrap().ended.outcome, Outcome::Done);
    for turn in 1..200 {
        let answer = talk.send(UserMessage::new(format!("turn {turn} of the work"))).unwrap();
        assert_eq!(answer.ended.text, format!("Answer to turn {turn}."));
        let (tokens, window) = talk.fill();
        assert!(tokens < window, "{tokens} of {window} after turn {turn}");
    }
    let id = talk.id();
    drop(talk);

    let requests: Vec<Request> = model.asked().into_iter().filter(|request| !is_summary(request)).collect();
    let (mut skills, mut history) = (Skills::default(), History::default());
    let mut asked = requests.iter();
    let mut before: Option<&Request> = None;
    let (mut times, mut cuts, mut is_fresh) = (0, 0, false);
    let (mut with_active, mut cleared) = (0, 0);
    for kind in place.kinds(id) {
        history.take(&kind);
        skills.take(&kind);
        match &kind {
            EventKind::Compacted { messages, .. } => {
                times += 1;
                cuts += usize::from(!messages["kept"].is_null());
                is_fresh = true;
            }
            EventKind::Asked { .. } => {
                let request = asked.next().unwrap();
                // What was sent is what the events say.
                assert_eq!(request.messages[..], *history.messages());
                assert_request(request, requests.first().unwrap(), &skills);
                if is_fresh {
                    assert_compacted(request, &skills);
                    with_active += usize::from(!skills.active.is_empty());
                    cleared += assert_cleared_oldest_first(request);
                } else if let Some(before) = before {
                    assert_eq!(
                        before.messages[..],
                        request.messages[..before.messages.len()],
                        "a byte has changed"
                    );
                }
                (before, is_fresh) = (Some(request), false);
            }
            _ => {}
        }
    }
    assert!(times >= 10 && cuts >= 3, "made shorter {times} times, {cuts} of them by a summary");
    assert!(with_active > 0, "never was a skill active when it was made shorter");
    assert!(cleared > 0, "no output was ever cleared");
    assert!(asked.next().is_none());
    assert_goes_on_in_another_process(&place, id);
}

/// What holds for every request.
fn assert_request(request: &Request, first: &Request, skills: &Skills) {
    assert_eq!((&request.system, &request.tools), (&first.system, &first.tools));
    assert!(request.system.iter().any(|text| text.contains("- **skill-4**")), "the catalogue is there");
    assert_pairs(&request.messages);
    let texts = texts(&request.messages);
    for text in &skills.active {
        let times = texts.iter().filter(|own| own.strip_prefix("user: ") == Some(text)).count();
        assert_eq!(times, 1, "an active skill is there once, byte for byte");
    }
}

/// What holds for the first request after the conversation was made shorter.
fn assert_compacted(request: &Request, skills: &Skills) {
    let texts = texts(&request.messages);
    let names: HashSet<&str> = skills.names.iter().map(String::as_str).collect();
    for (name, text) in &skills.finished {
        assert!(!texts.iter().any(|own| own.contains(text.as_str())), "{name} is over and still there");
        let crumb = format!(
            "<skill-breadcrumb name=\"{name}\">Skill {name} was activated in a previous run</skill-breadcrumb>"
        );
        assert!(
            names.contains(name.as_str()) || texts.iter().any(|own| own.contains(&crumb)),
            "{name} has no breadcrumb"
        );
    }
    // The words of the user that are being worked on are there.
    assert!(texts.iter().any(|text| text.starts_with("user: turn ")));
}

/// Outputs that are cleared come before those that are not. Says how many there are.
fn assert_cleared_oldest_first(request: &Request) -> usize {
    let texts = texts(&request.messages);
    let marker = "result: [output cleared to make room: it had ";
    // What is short is not worth clearing.
    let is_long = |text: &&String| text.starts_with(marker) || text.contains("\ta line of a file");
    let outputs: Vec<bool> = texts.iter().filter(is_long).map(|text| text.starts_with(marker)).collect();
    assert!(
        outputs.is_sorted_by(|one, other| one >= other),
        "a later output was cleared before an older one: {outputs:?}"
    );
    for text in texts.iter().filter_map(|text| text.strip_prefix(marker)) {
        let size = text.split(' ').next().and_then(|size| size.parse::<usize>().ok());
        assert!(size.is_some_and(|size| size > 1_000), "{text}");
    }
    outputs.iter().filter(|is_cleared| **is_cleared).count()
}

fn assert_goes_on_in_another_process(place: &Place, id: SessionId) {
    let model = Acting::new(act);
    let agent = place.agent(&model);
    let watcher = onlooker(RetryDecision::Unanswered);
    let mut talk = Session::resume(&agent, place.setting(), id, company(&watcher)).unwrap().session;
    let mut history = History::default();
    for kind in place.kinds(id) {
        history.take(&kind);
    }
    assert_eq!(
        talk.send(UserMessage::new("turn 200 of the work")).unwrap().ended.text,
        "Answer to turn 200."
    );
    let first = model.asked().into_iter().find(|request| !is_summary(request)).unwrap();
    let same = history.messages().len();
    assert!(first.messages.len() <= same || first.messages[..same] == *history.messages());
}

#[test]
fn without_a_summary_it_is_cut_with_a_marker_and_says_why() {
    let place = place();
    let model = Acting::new(|request| {
        if is_summary(request) {
            return Act::Fails(ModelError::OffScript { why: "no summaries today".into() });
        }
        act(request)
    });
    let agent = place.agent(&model);
    let mut talk = place.begin(&agent, "turn 1 of the work");
    talk.run().unwrap();
    for turn in 2..8 {
        talk.send(UserMessage::new(format!("turn {turn} of the work"))).unwrap();
    }
    let shortened = talk.compact().unwrap().unwrap();
    assert!(shortened.no_summary.as_ref().unwrap().contains("no summaries today"), "{shortened:?}");
    assert!(shortened.cut > 2 && shortened.after < shortened.before, "{shortened:?}");
    talk.send(UserMessage::new("turn 8 of the work")).unwrap();
    let request = model.asked().into_iter().rfind(|request| !is_summary(request)).unwrap();
    let head = texts(&request.messages).remove(0);
    assert!(head.contains(&format!("[{} messages were cut here to make room]", shortened.cut)), "{head}");
    assert!(head.contains("- turn 1 of the work"), "{head}");
    assert!(talk.compact().unwrap().is_some());
}

#[test]
fn a_provider_that_says_it_is_too_long_gets_a_shorter_one() {
    let mut place = place();
    place.compaction = Compaction::default();
    let refused = Arc::new(Mutex::new(0));
    let count = Arc::clone(&refused);
    let model = Acting::new(move |request| {
        if !is_summary(request) && request.messages.len() > 12 {
            *count.lock().unwrap() += 1;
            let message = "This model's maximum context length is 4096 tokens".to_owned();
            return Act::Fails(ModelError::Refused { status: 400, message });
        }
        act(request)
    });
    let agent = place.agent(&model);
    let mut talk = place.begin(&agent, "turn 1 of the work");
    talk.run().unwrap();
    for turn in 2..9 {
        let answer = talk.send(UserMessage::new(format!("turn {turn} of the work"))).unwrap();
        assert_eq!(
            (answer.ended.outcome, answer.ended.text),
            (Outcome::Done, format!("Answer to turn {turn}."))
        );
    }
    assert!(*refused.lock().unwrap() >= 1);
}

#[test]
fn a_conversation_that_has_room_is_left_alone() {
    let mut place = place();
    place.compaction = Compaction::default();
    let model = Acting::new(act);
    let agent = place.agent(&model);
    let mut talk = place.begin(&agent, "turn 1 of the work");
    talk.run().unwrap();
    talk.send(UserMessage::new("turn 2 of the work")).unwrap();
    assert!(!place.kinds(talk.id()).iter().any(|kind| matches!(kind, EventKind::Compacted { .. })));
    let asked = model.asked();
    let is_first = |message: &Arc<Message>| matches!(&**message, Message::User(_));
    assert!(asked.iter().all(|request| is_first(&request.messages[0])));
    for pair in asked.windows(2) {
        assert_eq!(pair[0].messages[..], pair[1].messages[..pair[0].messages.len()]);
    }
}
