//! The state of a session, made of its events alone.
//!
//! [`SessionState::apply`] is the only place where it changes, while the session works and when it is read back from the store. So a
//! session that resumes is the same as if its process had never ended.

mod call;
mod recalled;
mod run;
mod subagent;

use std::collections::HashMap;
use std::sync::Arc;

use metier_activation::SkillArguments;
use metier_policy::{Answer, Question};
use metier_runtime::RestoredSkill;
use metier_store::{
    Agreement, Answered, ApprovalStage, Decided, Event, EventKind, FailedPart, LimitKind, MissingApproval,
    NoteTopic, Outcome, Timestamp, Used, Verdict,
};

pub(crate) use self::call::{Calls, GivenAnswer, StartedCall};
pub(crate) use self::recalled::{RecallRequest, Recalled};
pub(crate) use self::run::{LastAnswer, RunState};
pub(crate) use self::subagent::{Invoked, StartedSubagent, Subagents};
use crate::history::{History, SkillState};
use crate::limits::LimitHit;
use crate::prompt_prefix::PromptPrefix;
use crate::recorded_changes::missing_approval;

/// The state of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SessionState {
    /// The place of the last event.
    pub(crate) seq: u64,
    /// What precedes the messages of every request.
    pub(crate) prefix: Option<Arc<PromptPrefix>>,
    pub(crate) history: History,
    /// What counts for one message of the user.
    pub(crate) run: RunState,
    pub(crate) calls: Calls,
    pub(crate) subagents: Subagents,
    pub(crate) recalled: Recalled,
    /// The skills that were activated, in order, for the session's scopes.
    activated: Vec<RestoredSkill>,
    /// What was allowed for longer than once.
    pub(crate) allowed: Vec<GivenAnswer>,
    /// Other providers than the session's that the user was asked about, and whether they may see the conversation.
    pub(crate) agreed: HashMap<String, bool>,
    /// Whether it ended, and no message has come since.
    pub(crate) is_over: bool,
    /// How it ended last.
    pub(crate) outcome: Option<Outcome>,
}

impl SessionState {
    /// The state after these events.
    pub(crate) fn replay(events: &[Event]) -> Self {
        let mut state = Self::default();
        for event in events {
            state.apply(event);
        }
        state
    }

    /// The skills for the session's scopes, in the order of their activation.
    pub(crate) fn activated(&self) -> &[RestoredSkill] {
        &self.activated
    }

    /// Applies an event. Total: events of a stranger's file come in any order and with any numbers.
    pub(crate) fn apply(&mut self, event: &Event) {
        let kind = &event.kind;
        self.seq = event.seq;
        self.history.take(kind);
        self.recalled.apply(kind);
        match kind {
            EventKind::Framed(framed) => self.prefix = Some(Arc::new(PromptPrefix::from_stored(framed))),
            EventKind::Started(_) | EventKind::Said { .. } => self.message(event.at),
            EventKind::Resumed { .. } => {
                self.run.clock.resume(event.at);
                self.is_over = false;
                self.calls.resume();
            }
            EventKind::Asked { .. } => self.run.asked(),
            EventKind::Answered(answered) => self.answered(answered),
            EventKind::Partial { text, usage, cost_micros, .. } => {
                self.run.pay(*usage, *cost_micros);
                self.run.say(text.clone());
            }
            EventKind::Compacted { usage, cost_micros, .. } => self.run.pay(*usage, *cost_micros),
            EventKind::Called(called) => {
                self.run.spent.calls = self.run.spent.calls.saturating_add(1);
                self.calls.start(called);
            }
            EventKind::Limited { which, limit, used } => {
                let hit = LimitHit { which: which.clone(), limit: *limit, used: *used };
                // What a limit of a newer program means is unknown here.
                self.run.limit_hit = Some(hit).filter(|hit| !matches!(hit.which, LimitKind::Other(_)));
            }
            EventKind::LimitExtended { which } => self.run.extend(which.clone()),
            EventKind::Decided(decided) => self.decided(decided),
            EventKind::Activated(activated) => self.activate(activated),
            EventKind::Finished(finished) => {
                self.finished(&finished.id, finished.is_error);
                self.run.missing.extend(finished.change_set.as_ref().and_then(missing_approval));
            }
            EventKind::ChildBegan { child, call, skill, agent, mode } => {
                let child = StartedSubagent::new(*child, skill.as_deref(), agent.as_deref(), mode);
                match call.as_ref().filter(|_| !child.is_background()) {
                    Some(call) => self.calls.start_subagent(call, child),
                    None => self.subagents.start(child),
                }
            }
            EventKind::ChildEnded { child, outcome, usage, cost_micros, calls, missing } => {
                self.run.pay(*usage, *cost_micros);
                self.run.spent.calls = self.run.spent.calls.saturating_add(*calls);
                self.run.missing.extend(missing.iter().cloned());
                self.subagents.end(*child, *outcome);
                self.calls.end_subagent(*child, *outcome, missing);
            }
            EventKind::Noted { about, .. } => {
                self.run.last = None;
                if *about == NoteTopic::Subagent {
                    self.subagents.told();
                }
            }
            EventKind::Allowed { question, answer } => self.allow(question, answer),
            EventKind::ApprovalRequested { call, question, action, stage } => {
                // The other stages end with the process.
                let is_before = *stage == ApprovalStage::Before;
                if let (true, Some(call), Some(question)) = (is_before, call, read_question(question)) {
                    self.calls.request_approval(call, question, action);
                }
            }
            EventKind::ApprovalAnswered { call, question, answer } => {
                self.allow(question, answer);
                if let Some(((call, question), answer)) =
                    call.as_ref().zip(read_question(question)).zip(read_answer(answer))
                {
                    self.calls.answer_approval(call, GivenAnswer { question, answer });
                }
            }
            EventKind::Agreed { provider, said } => {
                self.agreed.insert(provider.clone(), *said == Agreement::Yes);
            }
            EventKind::Doubted { call, action, said, .. } => {
                if self.calls.doubt(call, action, *said) {
                    self.run.missing.push(MissingApproval { action: action.clone(), ..Default::default() });
                }
            }
            EventKind::Used(used) => self.run.use_recorded(used),
            EventKind::Offered { .. } => self.run.is_offered = true,
            EventKind::Ended(ended) => self.ended(ended.outcome),
            EventKind::Failed { at: FailedPart::Model, message } => self.run.failure = Some(message.clone()),
            EventKind::Retrying { .. }
            | EventKind::Diagnosed { .. }
            | EventKind::Interrupted { .. }
            | EventKind::Failed { .. }
            | EventKind::Remembered { .. }
            | EventKind::Recalled { .. }
            | EventKind::Other { .. } => {}
        }
        self.run.clock.latest = event.at;
    }

    /// A message came: what counts for one message begins again.
    fn message(&mut self, at: Timestamp) {
        self.run = RunState::default();
        self.run.clock.resume(at);
        self.is_over = false;
        self.subagents.invoked = None;
        self.calls.resume();
        for skill in &mut self.activated {
            skill.is_open = false;
        }
    }

    fn ended(&mut self, outcome: Outcome) {
        // Work after an end counts from there. Calls that were started stay what they are, and so does a sub-agent that waits for
        // an approval.
        self.run = RunState { is_offered: self.run.is_offered, ..RunState::default() };
        self.is_over = true;
        self.calls.end();
        self.outcome = Some(outcome);
        self.subagents.invoked =
            self.subagents.invoked.take().filter(|one| outcome == Outcome::NeedsYes && !one.is_told);
    }

    fn answered(&mut self, answered: &Answered) {
        self.run.pay(answered.usage, answered.cost_micros.unwrap_or_default());
        self.calls.answered(answered);
        self.run.say(answered.text());
        self.run.failure = None;
        let last = LastAnswer { stop: answered.stop.clone() };
        self.run.last = answered.calls().next().is_none().then_some(last);
    }

    fn decided(&mut self, decided: &Decided) {
        // What a person was asked about and allowed is decided anew, so `Ask` is what they refused.
        let is_refused = decided.verdict == Verdict::Ask;
        if is_refused || decided.unanswered || !decided.allow_with.is_empty() {
            self.run.missing.push(MissingApproval {
                action: decided.action.clone(),
                rules: decided.allow_with.clone(),
                changes: None,
            });
        }
    }

    fn activate(&mut self, activated: &metier_store::Activated) {
        self.calls.activated(activated);
        self.run.used.push((Used::begun(activated), self.run.spent));
        let restored = RestoredSkill {
            name: activated.skill.clone(),
            origin: activated.origin.clone(),
            arguments: SkillArguments::Text(activated.arguments.clone()),
            digest: Some(activated.digest.clone()),
            is_open: true,
        };
        // The same skill with the same text and arguments is one activation, and the last one to be active.
        let is_same = |known: &RestoredSkill| {
            (&known.name, &known.origin, &known.arguments, &known.digest)
                == (&restored.name, &restored.origin, &restored.arguments, &restored.digest)
        };
        self.activated.retain(|known| !is_same(known));
        self.activated.push(restored);
    }

    fn finished(&mut self, id: &str, is_error: bool) {
        // A call that was not made, since a limit was reached, says nothing about the model.
        let Some(finished) = self.calls.finish(id) else { return };
        if let Some((tool, raw)) = &finished.input {
            self.run.repeats.take(tool, raw, is_error);
        }
        if !is_error && finished.effect != metier_store::Effect::ReadOnly {
            self.run.missing.retain(|missing| missing.changes.is_some());
        }
    }

    fn allow(&mut self, question: &serde_json::Value, answer: &str) {
        // What this program cannot read allows nothing. What was allowed for good is in the user's configuration, where it can be
        // revoked, and not here.
        if let (Some(question), Some(answer @ (Answer::SessionExact | Answer::SessionTool))) =
            (read_question(question), read_answer(answer))
        {
            self.allowed.push(GivenAnswer { question, answer });
        }
    }

    /// The skills for the session's scopes, without the digests of texts that compaction removed.
    pub(crate) fn restorable(&self) -> Vec<RestoredSkill> {
        let mut skills = self.activated.clone();
        for skill in &mut skills {
            let texts = &self.history.skills;
            if !texts.iter().any(|text| text.name == skill.name && text.state != SkillState::Gone) {
                skill.digest = None;
            }
        }
        skills
    }
}

/// A question as it was stored. What this program cannot read allows nothing.
fn read_question(stored: &serde_json::Value) -> Option<Question> {
    serde_json::from_value(stored.clone()).ok()
}

/// An answer, likewise.
fn read_answer(stored: &str) -> Option<Answer> {
    serde_json::from_value(stored.into()).ok()
}

#[cfg(test)]
mod tests;
