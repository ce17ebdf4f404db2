//! How far a session has come, made of its events alone: what a conversation needs beside its messages to go on as if its process had
//! never ended.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use metier_policy::{Answer, Question};
use metier_runtime::{Arguments, GivenAnswer, Reopen, Restored};
use metier_store::{
    Agreement, Answered, Called, Doubt, Event, EventKind, Framed, NoteTopic, Outcome, Part, RecordId,
    SessionId, SubagentMode, Timestamp, Usage, Used,
};

use crate::changed::unanswered;
use crate::child::{ChildMode, Worker};
use crate::compaction::cuts;
use crate::history::History;
use crate::limits::{Limit, Spent};
use crate::stubbornness::{Stubbornness, call_mark};
use crate::talk::Unanswered;

/// How far a session has come.
#[derive(Debug, Default)]
pub(crate) struct Course {
    pub(crate) history: History,
    pub(crate) framed: Option<Framed>,
    /// The place of the last event.
    pub(crate) seq: u64,
    /// What was used up since the user spoke, or since it last ended.
    pub(crate) spent: Spent,
    /// The limits that somebody let it go over since the user spoke, each as often as it happened.
    pub(crate) extended: Vec<Limit>,
    pub(crate) stubbornness: Stubbornness,
    pub(crate) unanswered: Vec<Unanswered>,
    /// The skills that were activated since the user spoke and have no activity entry yet, with what had been spent then.
    pub(crate) used: Vec<(Used, Spent)>,
    /// The skills that were activated, for the session's scopes.
    activated: Vec<Restored>,
    /// What was allowed for longer than once.
    pub(crate) allowed: Vec<GivenAnswer>,
    /// Other providers than the session's that the user was asked about, and whether they may see what is said.
    pub(crate) agreed: HashMap<String, bool>,
    /// The calls of the last answer that were begun, by id.
    pub(crate) begun: HashMap<String, BegunState>,
    /// Children in the background that have not ended.
    pub(crate) apart: Vec<BegunChild>,
    /// The child that the user's last words began, and not the model.
    pub(crate) invoked: Option<Invoked>,
    /// The calls that may have happened and were left: the very same is not made again without a yes.
    pub(crate) doubted: Vec<u64>,
    /// The model's last words and why they ended, until something follows them.
    pub(crate) last: Option<Last>,
    pub(crate) recalled: Recalled,
    /// Whether it ended, and nobody has spoken since.
    pub(crate) is_over: bool,
    /// How it ended last.
    pub(crate) outcome: Option<Outcome>,
    /// Whether skills were looked for since the user spoke.
    pub(crate) is_offered: bool,
    /// The calls of the last answer by id: tool and raw input.
    calls: HashMap<String, (String, String)>,
    reached: Option<Limit>,
    /// When the work on the user's message began, and when the last event of it was.
    began: Option<Timestamp>,
    latest: Timestamp,
    /// How long it was worked on in processes before the last one.
    before: Duration,
}

/// What is known of a call that was begun.
#[derive(Clone, Debug)]
pub(crate) struct BegunState {
    pub(crate) called: Called,
    /// The skill that it had put into the conversation.
    pub(crate) activated: Option<String>,
    /// The child that it had begun.
    pub(crate) child: Option<BegunChild>,
}

/// A child that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BegunChild {
    pub(crate) id: SessionId,
    pub(crate) worker: Worker,
    pub(crate) mode: ChildMode,
    /// How it ended, where its parent knows.
    pub(crate) outcome: Option<Outcome>,
}

/// A child that is the answer to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invoked {
    pub(crate) child: BegunChild,
    /// Whether its result is in the conversation already.
    pub(crate) is_told: bool,
}

/// The model's last words.
#[derive(Clone, Debug)]
pub(crate) struct Last {
    pub(crate) text: String,
    pub(crate) stop: Option<String>,
}

/// Which records of the memory were put into the conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recalled {
    /// With the user's message before this one.
    before: Vec<RecordId>,
    /// With this one.
    now: Vec<RecordId>,
    /// All whose texts are there still.
    there: Vec<RecordId>,
}

impl Recalled {
    pub(crate) fn take(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Said { .. } => self.before = std::mem::take(&mut self.now),
            EventKind::Recalled { records, .. } => {
                self.now.extend(records);
                self.there.extend(records);
            }
            EventKind::Compacted { messages, .. } if cuts(messages) => self.there.clear(),
            _ => {}
        }
    }

    /// Those that are not recalled again: they are there, or came with this message or the last one.
    pub(crate) fn excluded(&self) -> Vec<RecordId> {
        let mut all: Vec<RecordId> =
            self.before.iter().chain(&self.now).chain(&self.there).copied().collect();
        all.sort();
        all.dedup();
        all
    }

    /// How many came with this message.
    pub(crate) fn count(&self) -> usize {
        self.now.len()
    }
}

impl Course {
    /// The course that events tell of.
    pub(crate) fn of(events: &[Event]) -> Self {
        let mut course = Self::default();
        for event in events {
            course.take(event);
        }
        let worked = course.before + course.segment();
        // A process that ran longer than the machine is up has another clock; then the time begins anew.
        course.spent.since = Instant::now().checked_sub(worked).unwrap_or_else(Instant::now);
        course
    }

    /// The skills for the session's scopes, in the order of their activation.
    pub(crate) fn activated(&self) -> &[Restored] {
        &self.activated
    }

    fn segment(&self) -> Duration {
        let began = self.began.unwrap_or(self.latest);
        Duration::from_millis(self.latest.millis().saturating_sub(began.millis()))
    }

    fn take(&mut self, event: &Event) {
        let kind = &event.kind;
        self.seq = event.seq;
        self.history.take(kind);
        self.recalled.take(kind);
        match kind {
            EventKind::Framed(framed) => self.framed = Some(framed.clone()),
            EventKind::Started(_) | EventKind::Said { .. } => self.spoken(event.at),
            EventKind::Resumed { .. } => {
                // Nobody worked while there was no process.
                self.before += self.segment();
                self.began = Some(event.at);
                self.is_over = false;
            }
            EventKind::Asked { .. } => {
                self.spent.turns += 1;
                if let Some(limit) = self.reached.take() {
                    self.extended.push(limit);
                    self.stubbornness = Stubbornness::default();
                }
            }
            EventKind::Answered(answered) => self.answered(answered),
            EventKind::Compacted { usage, cost_micros, .. } => self.pay(*usage, *cost_micros),
            EventKind::Called(called) => {
                self.spent.calls += 1;
                let state = BegunState { called: called.clone(), activated: None, child: None };
                self.begun.insert(called.id.clone(), state);
            }
            EventKind::Limited { which, .. } => self.reached = Limit::of(which),
            EventKind::Decided(decided) if !decided.allow_with.is_empty() => {
                self.unanswered.push(Unanswered {
                    action: decided.action.clone(),
                    rules: decided.allow_with.clone(),
                    changes: None,
                });
            }
            EventKind::Activated(activated) => self.activate(activated),
            EventKind::Finished(finished) => {
                self.finished(&finished.id, finished.is_error);
                self.unanswered.extend(finished.change_set.as_ref().and_then(unanswered));
            }
            EventKind::ChildBegan { child, call, skill, agent, mode } => {
                let worker = match (skill, agent) {
                    (None, Some(name)) => Worker::Role(name.clone()),
                    (skill, _) => Worker::Skill(skill.clone().unwrap_or_default()),
                };
                self.child_began(*child, call.as_deref(), worker, mode);
            }
            EventKind::ChildEnded { child, outcome, usage, cost_micros } => {
                self.pay(*usage, *cost_micros);
                self.apart.retain(|known| known.id != *child);
                let called = self.begun.values_mut().filter_map(|begun| begun.child.as_mut());
                let invoked = self.invoked.as_mut().map(|invoked| &mut invoked.child);
                for known in called.chain(invoked).filter(|known| known.id == *child) {
                    known.outcome = Some(*outcome);
                }
            }
            EventKind::Noted { about: NoteTopic::Subagent, .. } => {
                if let Some(invoked) = self.invoked.as_mut().filter(|one| one.child.outcome.is_some()) {
                    invoked.is_told = true;
                }
            }
            EventKind::Allowed { question, answer } => self.allow(question, answer),
            EventKind::Agreed { provider, said } => {
                self.agreed.insert(provider.clone(), *said == Agreement::Yes);
            }
            EventKind::Doubted { call, said, .. } => self.doubt(call, *said),
            EventKind::Used(used) => {
                let is_this = |(known, _): &(Used, Spent)| {
                    (&known.skill, &known.origin, &known.digest) == (&used.skill, &used.origin, &used.digest)
                };
                if let Some(at) = self.used.iter().position(is_this) {
                    self.used.remove(at);
                }
            }
            EventKind::Offered { .. } => self.is_offered = true,
            EventKind::Ended(ended) => self.ended(ended.outcome),
            _ => {}
        }
        self.latest = event.at;
    }

    fn spoken(&mut self, at: Timestamp) {
        self.anew();
        self.began = Some(at);
        self.is_over = false;
        self.is_offered = false;
        self.invoked = None;
        for skill in &mut self.activated {
            skill.open = Reopen::No;
        }
    }

    fn ended(&mut self, outcome: Outcome) {
        // Whoever goes on after an end has decided to: it counts from there. Calls that were begun stay what they are, and so does
        // a child that waits for a yes.
        self.anew();
        self.is_over = true;
        self.outcome = Some(outcome);
        self.invoked = self.invoked.take().filter(|one| outcome == Outcome::NeedsYes && !one.is_told);
    }

    fn child_began(&mut self, id: SessionId, call: Option<&str>, worker: Worker, mode: &SubagentMode) {
        let mode = ChildMode::of(mode);
        let child = BegunChild { id, worker, mode, outcome: None };
        if mode == ChildMode::Background {
            self.apart.push(child);
        } else if let Some(call) = call {
            if let Some(begun) = self.begun.get_mut(call) {
                begun.child = Some(child);
            }
        } else {
            self.invoked = Some(Invoked { child, is_told: false });
        }
    }

    /// The calls that have no result yet.
    pub(crate) fn unfinished(&self) -> Vec<metier_model::ToolCall> {
        self.history.unfinished_calls()
    }

    /// What counts for one message of the user begins again.
    fn anew(&mut self) {
        self.spent = Spent::default();
        self.extended.clear();
        self.reached = None;
        self.stubbornness = Stubbornness::default();
        self.unanswered.clear();
        self.used.clear();
        self.last = None;
        self.began = None;
        self.before = Duration::ZERO;
    }

    fn pay(&mut self, usage: Usage, cost_micros: u64) {
        self.spent.usage += usage;
        self.spent.cost_micros = self.spent.cost_micros.saturating_add(cost_micros);
    }

    fn answered(&mut self, answered: &Answered) {
        self.pay(answered.usage, answered.cost_micros.unwrap_or_default());
        self.begun.clear();
        let calls = answered.calls().map(|call| {
            let raw = call.raw.clone().unwrap_or_else(|| call.input.to_string());
            (call.id.clone(), (call.name.clone(), raw))
        });
        self.calls = calls.collect();
        let has_calls = answered.parts.iter().any(|part| matches!(part, Part::Call(_)));
        let last = Last { text: answered.text(), stop: answered.stop.clone() };
        self.last = (!has_calls).then_some(last);
    }

    fn activate(&mut self, activated: &metier_store::Activated) {
        if let Some(begun) = activated.call.as_ref().and_then(|call| self.begun.get_mut(call)) {
            // Without a text of its own the result is the text, and that is lost.
            begun.activated = (!activated.message.is_empty()).then(|| activated.skill.clone());
        }
        self.used.push((Used::begun(activated), self.spent));
        let restored = Restored {
            name: activated.skill.clone(),
            origin: activated.origin.clone(),
            arguments: Arguments::Text(activated.arguments.clone()),
            digest: Some(activated.digest.clone()),
            open: Reopen::Yes,
        };
        // The same once more is the same text, and the last one to be active.
        let is_same = |known: &Restored| {
            (&known.name, &known.origin, &known.arguments, &known.digest)
                == (&restored.name, &restored.origin, &restored.arguments, &restored.digest)
        };
        self.activated.retain(|known| !is_same(known));
        self.activated.push(restored);
    }

    fn finished(&mut self, id: &str, is_error: bool) {
        // A call that was not made, since a limit was reached, says nothing about the model.
        let Some(begun) = self.begun.remove(id) else { return };
        if let Some((tool, raw)) = self.calls.get(id) {
            self.stubbornness.take(tool, raw, is_error);
        }
        if !is_error && begun.called.effect != metier_store::Effect::ReadOnly {
            self.unanswered.retain(|need| need.changes.is_some());
        }
    }

    fn allow(&mut self, question: &serde_json::Value, answer: &str) {
        let question: Result<Question, _> = serde_json::from_value(question.clone());
        let answer: Result<Answer, _> = serde_json::from_value(answer.into());
        // What this program cannot read allows nothing. What was allowed for good is in the user's configuration, where it can be
        // revoked, and not here.
        if let (Ok(question), Ok(answer @ (Answer::SessionExact | Answer::SessionTool))) = (question, answer)
        {
            self.allowed.push(GivenAnswer { question, answer });
        }
    }

    fn doubt(&mut self, call: &str, said: Doubt) {
        let Some((tool, raw)) = self.calls.get(call) else { return };
        let mark = call_mark(tool, raw);
        self.doubted.retain(|known| *known != mark);
        if said == Doubt::Leave {
            self.doubted.push(mark);
        }
    }

    /// The texts that were cut away are there no more for the session either.
    pub(crate) fn forget_cut_texts(&mut self) {
        let Self { activated, history, .. } = self;
        for skill in activated {
            let is_there = history
                .skills
                .iter()
                .any(|text| text.name == skill.name && text.state != crate::history::SkillState::Gone);
            if !is_there {
                skill.digest = None;
            }
        }
    }
}

#[cfg(test)]
mod tests;
