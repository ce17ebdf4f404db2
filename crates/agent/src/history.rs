//! The conversation as a model sees it, made of events alone.
//!
//! What is sent and what is stored cannot drift apart: the loop writes an event, and the message that it means is put here from
//! that very event. A session that continues tomorrow, or that waits with nothing in memory, is the same fold over the
//! stored events.

use std::sync::Arc;

use metier_model::{Arguments, Message, OutcomeStatus, Part, Reasoning, Seal, ToolCall, ToolOutcome};
use metier_store as store;
use metier_store::EventKind;

/// The messages of a conversation. They only grow, so that whatever a provider keeps of them holds, until the conversation is made
/// shorter: see [`Compaction`](crate::Compaction).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub(crate) messages: Vec<Arc<Message>>,
    /// What the next message of the user has so far.
    pub(crate) open: Vec<Part>,
    /// The calls of the last answer, until each has its result.
    pending: Vec<Waiting>,
    /// The skills whose texts were put in, in their order.
    pub(crate) skills: Vec<SkillText>,
    /// The user's last text, as it is in a message.
    pub(crate) words: Option<Arc<str>>,
    /// How often the model was asked.
    turns: u64,
    /// The bytes of the last request, and the tokens that its provider counted.
    asked_bytes: u64,
    measured: Option<Measured>,
    /// How many messages have come since the conversation was made shorter; all of them where it never was.
    pub(crate) since: usize,
}

/// A skill's text in the conversation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SkillText {
    pub(crate) name: String,
    origin: String,
    arguments: String,
    digest: String,
    /// The exact text in a message, by which it is found there. Empty until the call that returns it has ended.
    pub(crate) text: Arc<str>,
    pub(crate) state: SkillState,
    /// The call whose result it is, where it is one.
    result_of: Option<Arc<str>>,
}

/// What a skill is in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkillState {
    /// The user has not spoken since it was activated.
    Active,
    /// It is over, and its text is there.
    Finished,
    /// It is over, and a breadcrumb replaced it.
    Gone,
}

/// What a provider counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    /// Bytes of messages.
    pub(crate) bytes: u64,
    /// Tokens of these and of the prefix.
    pub(crate) tokens: u64,
}

/// How much a conversation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Messages.
    pub messages: u64,
    /// Bytes of their texts.
    pub bytes: u64,
}

pub(crate) fn bytes(message: &Message) -> usize {
    match message {
        Message::User(parts) | Message::Assistant(parts) => parts.iter().map(part_bytes).sum(),
        Message::Results(outcomes) => outcomes.iter().map(|outcome| outcome.text.len()).sum(),
        _ => 0,
    }
}

fn part_bytes(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Reasoning(reasoning) => reasoning.text.len(),
        Part::Call(call) => call.arguments.raw().len(),
        _ => 0,
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Waiting {
    id: Arc<str>,
    name: Arc<str>,
    result: Option<(Arc<str>, OutcomeStatus)>,
    /// Texts of skills that it activated.
    texts: Vec<Arc<str>>,
}

impl History {
    /// The messages that are whole.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// How much there is to be sent, with the user's message that is not ended yet.
    pub fn extent(&self) -> Extent {
        let messages = self.messages.len() + usize::from(!self.open.is_empty());
        let closed: usize = self.messages.iter().map(|message| bytes(message)).sum();
        let open: usize = self.open.iter().map(part_bytes).sum();
        Extent { messages: messages as u64, bytes: (closed + open) as u64 }
    }

    /// How often the model was asked.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// What its provider counted last, where it did.
    pub(crate) fn measured(&self) -> Option<Measured> {
        self.measured
    }

    /// Calls without a result: begun when the process ended, or not even that.
    pub fn unfinished(&self) -> impl Iterator<Item = &str> {
        self.pending.iter().filter(|call| call.result.is_none()).map(|call| &*call.id)
    }

    /// The same as the model made them.
    pub(crate) fn unfinished_calls(&self) -> Vec<ToolCall> {
        if self.pending.is_empty() {
            return Vec::new();
        }
        // Nothing comes between an answer and the results of its calls but what waits in `open`.
        let has_calls = |parts: &&Vec<Part>| parts.iter().any(|part| matches!(part, Part::Call(_)));
        let answer = self.messages.iter().rev().find_map(|message| match &**message {
            Message::Assistant(parts) => Some(parts).filter(has_calls),
            _ => None,
        });
        let calls = answer.into_iter().flatten().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        });
        // By their places: a careless provider gives one id to two calls.
        let unfinished = calls.zip(&self.pending).filter(|(_, waiting)| waiting.result.is_none());
        unfinished.map(|(call, _)| call.clone()).collect()
    }

    /// Whether something waits for an answer of the model.
    pub fn is_waiting(&self) -> bool {
        let last = self.messages.last().map(|message| &**message);
        !self.open.is_empty()
            || !self.pending.is_empty()
            || !matches!(last, None | Some(Message::Assistant(_)))
    }

    /// Takes an event. Most of them are no part of the conversation.
    pub fn take(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Started(started) if !started.request.is_empty() => self.user_said(&started.request),
            EventKind::Said { text, .. } => self.user_said(text),
            EventKind::Noted { text, .. } => self.say(text.as_str().into()),
            EventKind::Recalled { message, .. } => self.say(message.as_str().into()),
            EventKind::Activated(activated) => self.activated(activated),
            EventKind::Asked { turn, bytes, .. } => {
                self.close();
                // A stranger's file may count from anywhere; the next one must still be countable.
                self.turns = (*turn).min(u64::MAX >> 16);
                self.asked_bytes = *bytes;
            }
            EventKind::Answered(answered) => self.answered(answered),
            // Half an answer is kept as what it is, so that the model can go on from it.
            EventKind::Partial { text, .. } if !text.is_empty() => {
                self.close();
                self.push(Message::assistant(text.as_str()));
            }
            EventKind::Finished(finished) => self.finished(finished),
            EventKind::Compacted { messages, .. } => self.shorten(messages),
            _ => {}
        }
    }

    fn user_said(&mut self, text: &str) {
        for skill in &mut self.skills {
            if skill.state == SkillState::Active {
                skill.state = SkillState::Finished;
            }
        }
        let text: Arc<str> = text.into();
        self.words = Some(Arc::clone(&text));
        self.say(text);
    }

    fn say(&mut self, text: Arc<str>) {
        self.open.push(Part::Text(text));
    }

    fn activated(&mut self, activated: &store::Activated) {
        let store::Activated { skill: name, origin, arguments, digest, message, .. } = activated;
        let text: Arc<str> = message.as_str().into();
        let call = activated.call.as_deref();
        // Without a text it is there already and holds again, or it is the result of the call. A child has its skill's text as its
        // system prompt, and no second copy.
        if message.is_empty() && (self.is_again(activated) || call.is_none()) {
            return;
        }
        // A note instead of a text has no digest of its own.
        if digest.is_empty() && self.is_again(activated) {
            return self.say(text);
        }
        let waiting = self.pending.iter_mut().find(|waiting| call == Some(&*waiting.id));
        let result_of =
            waiting.as_ref().filter(|_| message.is_empty()).map(|waiting| Arc::clone(&waiting.id));
        self.skills.push(SkillText {
            name: name.clone(),
            origin: origin.clone(),
            arguments: arguments.clone(),
            digest: digest.clone(),
            text: Arc::clone(&text),
            state: SkillState::Active,
            result_of,
        });
        match waiting {
            _ if message.is_empty() => {}
            Some(waiting) => waiting.texts.push(text),
            None => self.say(text),
        }
    }

    /// Whether the text of a skill that was activated again is there still; then it holds again.
    fn is_again(&mut self, activated: &store::Activated) -> bool {
        let is_same = |skill: &&mut SkillText| {
            skill.state != SkillState::Gone
                && (&skill.name, &skill.origin, &skill.arguments)
                    == (&activated.skill, &activated.origin, &activated.arguments)
                && (skill.digest == activated.digest || activated.digest.is_empty())
        };
        let known = self.skills.iter_mut().rev().find(is_same);
        known.map(|skill| skill.state = SkillState::Active).is_some()
    }

    /// Ends the message of the user.
    fn close(&mut self) {
        if !self.open.is_empty() {
            let parts = std::mem::take(&mut self.open);
            self.push(Message::User(parts));
        }
    }

    fn push(&mut self, message: Message) {
        self.messages.push(Arc::new(message));
        self.since += 1;
    }

    fn answered(&mut self, answered: &store::Answered) {
        self.close();
        let parts: Vec<Part> = answered.parts.iter().map(part).collect();
        let calls = parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(Waiting {
                id: Arc::clone(&call.id),
                name: Arc::clone(&call.name),
                result: None,
                texts: Vec::new(),
            }),
            _ => None,
        });
        self.pending = calls.collect();
        let usage = answered.usage;
        let tokens = usage.input.saturating_add(usage.cached).saturating_add(usage.cache_written);
        if tokens > 0 {
            self.measured = Some(Measured { bytes: self.asked_bytes, tokens });
        }
        // An answer of nothing is no message: some providers refuse one that is empty.
        if !parts.is_empty() {
            self.push(Message::Assistant(parts));
        }
    }

    fn finished(&mut self, finished: &store::Finished) {
        if self.pending.is_empty() {
            return;
        }
        let status = if finished.is_error { OutcomeStatus::Failed } else { OutcomeStatus::Done };
        if let Some(call) =
            self.pending.iter_mut().find(|call| *call.id == *finished.id && call.result.is_none())
        {
            let text: Arc<str> = finished.text.as_str().into();
            for skill in &mut self.skills {
                if skill.result_of.as_deref() == Some(&*finished.id) {
                    skill.text = Arc::clone(&text);
                    skill.result_of = None;
                }
            }
            call.result = Some((text, status));
        }
        if self.pending.iter().any(|call| call.result.is_none()) {
            return;
        }
        let mut outcomes = Vec::with_capacity(self.pending.len());
        for Waiting { id, name, result, texts } in std::mem::take(&mut self.pending) {
            let (text, status) = result.unwrap_or_default();
            outcomes.push(ToolOutcome { call_id: id, name, text, status });
            // Texts of skills follow all results, in the order of the calls.
            self.open.extend(texts.into_iter().map(Part::Text));
        }
        self.push(Message::Results(outcomes));
        self.close();
    }
}

/// A stored piece as the model's.
fn part(part: &store::Part) -> Part {
    match part {
        store::Part::Text { text } => Part::Text(text.as_str().into()),
        store::Part::Reasoning { text, opaque } => {
            Part::Reasoning(Reasoning { text: text.as_str().into(), seal: unsealed(opaque) })
        }
        store::Part::Call(call) => Part::Call(ToolCall {
            id: call.id.as_str().into(),
            name: call.name.as_str().into(),
            arguments: match &call.raw {
                Some(raw) => Arguments::read(raw),
                None => Arguments::read(&call.input.to_string()),
            },
            seal: unsealed(&call.opaque),
        }),
    }
}

fn unsealed(opaque: &serde_json::Value) -> Seal {
    serde_json::from_value(opaque.clone()).unwrap_or_default()
}

/// A piece of an answer as it is stored.
pub(crate) fn stored(part: &Part) -> Option<store::Part> {
    let sealed = |seal: &Seal| match seal {
        Seal::Open => serde_json::Value::Null,
        seal => serde_json::to_value(seal).unwrap_or_default(),
    };
    Some(match part {
        Part::Text(text) => store::Part::Text { text: text.to_string() },
        Part::Reasoning(reasoning) => {
            store::Part::Reasoning { text: reasoning.text.to_string(), opaque: sealed(&reasoning.seal) }
        }
        Part::Call(call) => {
            let input = call.arguments.fields().map(|fields| serde_json::Value::Object(fields.clone()));
            let raw = call.arguments.raw();
            let is_same = input.as_ref().map(ToString::to_string).as_deref() == Some(raw);
            store::Part::Call(store::ToolCall {
                id: call.id.to_string(),
                name: call.name.to_string(),
                input: input.unwrap_or_default(),
                raw: (!is_same).then(|| raw.to_owned()),
                opaque: sealed(&call.seal),
            })
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_model::Protocol;
    use metier_store::{Activated, Answered, By, Finished, NoteTopic};

    fn call(id: &str, name: &str) -> store::Part {
        store::Part::Call(store::ToolCall { id: id.into(), name: name.into(), ..Default::default() })
    }

    fn finished(id: &str, text: &str) -> EventKind {
        EventKind::Finished(Finished { id: id.into(), text: text.into(), ..Default::default() })
    }

    fn asked() -> EventKind {
        EventKind::Asked { turn: 1, model: "m".into(), messages: 1, tools: 0, bytes: 0 }
    }

    fn answered(parts: Vec<store::Part>) -> EventKind {
        EventKind::Answered(Answered { parts, ..Default::default() })
    }

    fn folded(events: &[EventKind]) -> History {
        let mut history = History::default();
        for event in events {
            history.take(event);
        }
        history
    }

    #[test]
    fn notes_stand_in_the_users_message_and_texts_of_skills_behind_all_results_in_the_order_of_calls() {
        let activated = |call: &str, message: &str| {
            EventKind::Activated(Activated {
                call: Some(call.into()),
                message: message.into(),
                ..Default::default()
            })
        };
        let history = folded(&[
            EventKind::Said { text: "do it".into(), by: By::User },
            EventKind::Noted { text: "skills that fit".into(), about: NoteTopic::Shortlist },
            asked(),
            answered(vec![store::Part::Text { text: "well".into() }, call("1", "a"), call("2", "b")]),
            activated("2", "text of b"),
            finished("2", "b is done"),
            activated("1", "text of a"),
            finished("1", "a is done"),
        ]);
        let texts: Vec<String> = history.messages().iter().map(|message| format!("{message:?}")).collect();
        assert_eq!(texts.len(), 4, "{texts:#?}");
        assert!(texts[0].contains("do it") && texts[0].contains("skills that fit"));
        let order = |text: &str, one: &str, other: &str| text.find(one).unwrap() < text.find(other).unwrap();
        assert!(order(&texts[2], "a is done", "b is done"), "{}", texts[2]);
        assert!(order(&texts[3], "text of a", "text of b"), "{}", texts[3]);
        assert_eq!(history.unfinished().count(), 0);
    }

    #[test]
    fn a_call_without_its_result_is_known_as_unfinished_and_is_in_no_results() {
        let history = folded(&[asked(), answered(vec![call("1", "a"), call("2", "b")]), finished("1", "x")]);
        assert_eq!(history.unfinished().collect::<Vec<_>>(), ["2"]);
        assert_eq!(history.messages().len(), 1);
    }

    #[test]
    fn seals_and_bytes_of_arguments_come_back_as_they_were() {
        let seal = Seal::Signed { by: Protocol::Anthropic, signature: "s".into() };
        for raw in ["{\"b\": 1,\"a\":2}", "{\"a\":", "{}"] {
            let parts = [
                Part::Reasoning(Reasoning { text: "hm".into(), seal: seal.clone() }),
                Part::Call(ToolCall {
                    id: "1".into(),
                    name: "a".into(),
                    arguments: Arguments::read(raw),
                    seal: seal.clone(),
                }),
            ];
            for one in &parts {
                assert_eq!(&part(&stored(one).unwrap()), one);
            }
        }
    }
}
