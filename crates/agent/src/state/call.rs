use std::collections::HashMap;

use metier_policy::{Answer, Question};
use metier_store::{Activated, Answered, Called, Effect, MissingApproval, Outcome, RetryDecision, SessionId};

use super::StartedSubagent;
use crate::repeat_guard::call_mark;

/// The calls of the last answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Calls {
    /// Tool and raw input of each, by id.
    asked: HashMap<String, (String, String)>,
    /// Those that were started and have no result, by id.
    pub(crate) started: HashMap<String, StartedCall>,
    /// Calls that may have happened and were left, of all answers: the same call is not made again without an approval.
    pub(crate) doubted: Vec<u64>,
    /// Calls without a result that may have run and wait for a person: the run ends until one can be asked. Their ids, and what each
    /// would do.
    unanswered: Vec<(String, String)>,
}

/// A call that was started and has no result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StartedCall {
    pub(crate) called: Called,
    /// The skill that it activated.
    pub(crate) activated: Option<String>,
    /// The sub-agent that it started.
    pub(crate) subagent: Option<StartedSubagent>,
    /// The approval that it waits for before it runs.
    pub(crate) approval: Option<WaitingApproval>,
    /// Whether it needed an approval when the work ended, so that it certainly has not run.
    is_deferred: bool,
    /// The answers that came while it was deferred: they are for this call.
    pub(crate) answers: Vec<GivenAnswer>,
}

/// An approval that a call waits for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WaitingApproval {
    pub(crate) question: Question,
    /// What would happen, in words.
    pub(crate) action: String,
}

/// A person's answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenAnswer {
    pub(crate) question: Question,
    pub(crate) answer: Answer,
}

impl StartedCall {
    /// Whether it certainly has not run: the answer to its question is missing, or came when nothing worked on it.
    pub(crate) fn has_not_run(&self) -> bool {
        self.is_deferred || self.approval.is_some()
    }
}

/// A call that has its result now.
pub(super) struct FinishedCall {
    pub(super) effect: Effect,
    /// Tool and raw input.
    pub(super) input: Option<(String, String)>,
}

impl Calls {
    pub(super) fn answered(&mut self, answered: &Answered) {
        self.started.clear();
        let asked = answered.calls().map(|call| {
            let raw = call.raw.clone().unwrap_or_else(|| call.input.to_string());
            (call.id.clone(), (call.name.clone(), raw))
        });
        self.asked = asked.collect();
    }

    pub(super) fn start(&mut self, called: &Called) {
        let before = self.started.remove(&called.id).filter(|before| before.is_deferred);
        let started = StartedCall {
            called: called.clone(),
            activated: None,
            subagent: None,
            approval: None,
            is_deferred: false,
            // It may need several approvals, one after the other.
            answers: before.map(|before| before.answers).unwrap_or_default(),
        };
        self.started.insert(called.id.clone(), started);
    }

    pub(super) fn start_subagent(&mut self, call: &str, subagent: StartedSubagent) {
        if let Some(started) = self.started.get_mut(call) {
            started.subagent = Some(subagent);
        }
    }

    pub(super) fn end_subagent(&mut self, id: SessionId, outcome: Outcome, missing: &[MissingApproval]) {
        let subagents = self.started.values_mut().filter_map(|started| started.subagent.as_mut());
        for subagent in subagents.filter(|subagent| subagent.id == id) {
            subagent.outcome = Some(outcome);
            subagent.missing = missing.to_vec();
        }
    }

    pub(super) fn activated(&mut self, activated: &Activated) {
        if let Some(started) = activated.call.as_ref().and_then(|call| self.started.get_mut(call)) {
            // Without a text of its own the result is the text, and that is lost.
            started.activated = (!activated.message.is_empty()).then(|| activated.skill.clone());
        }
    }

    /// A call has its result. `None` if it was never started.
    pub(super) fn finish(&mut self, id: &str) -> Option<FinishedCall> {
        self.unanswered.retain(|(call, _)| call != id);
        let started = self.started.remove(id)?;
        Some(FinishedCall { effect: started.called.effect, input: self.asked.get(id).cloned() })
    }

    pub(super) fn request_approval(&mut self, call: &str, question: Question, action: &str) {
        if let Some(started) = self.started.get_mut(call) {
            started.approval = Some(WaitingApproval { question, action: action.to_owned() });
        }
    }

    pub(super) fn answer_approval(&mut self, call: &str, given: GivenAnswer) {
        let Some(started) = self.started.get_mut(call) else { return };
        started.approval = None;
        if started.is_deferred {
            started.answers.push(given);
        }
    }

    /// The run ended: calls that wait for an approval run when it is there.
    pub(super) fn end(&mut self) {
        for started in self.started.values_mut() {
            started.is_deferred |= started.approval.is_some();
        }
    }

    /// The answers that are for this call.
    pub(crate) fn answers(&self, call: &str) -> Vec<GivenAnswer> {
        self.started.get(call).map(|started| started.answers.clone()).unwrap_or_default()
    }

    /// What waits for a person: own calls that need an approval or may have happened, and calls whose sub-agents wait.
    pub(crate) fn waiting(&self) -> Vec<String> {
        let subagents = self.started.values().filter_map(|started| started.subagent.as_ref());
        let waiting = subagents.filter(|subagent| subagent.outcome == Some(Outcome::NeedsYes));
        let actions =
            waiting.flat_map(|subagent| subagent.missing.iter().map(|missing| missing.action.clone()));
        let approvals = self.started.values().filter_map(|started| started.approval.as_ref());
        let approvals = approvals.map(|approval| approval.action.clone());
        self.unanswered.iter().map(|(_, action)| action.clone()).chain(approvals).chain(actions).collect()
    }

    /// Work continues: what waited for a person is tried again.
    pub(super) fn resume(&mut self) {
        self.unanswered.clear();
        // Their questions are asked again.
        for started in self.started.values_mut() {
            started.is_deferred |= started.approval.take().is_some();
        }
        for subagent in self.started.values_mut().filter_map(|started| started.subagent.as_mut()) {
            subagent.outcome = subagent.outcome.filter(|outcome| *outcome != Outcome::NeedsYes);
        }
    }

    /// Takes what was decided about a call that may have run. True if no one could be asked.
    pub(super) fn doubt(&mut self, call: &str, action: &str, said: RetryDecision) -> bool {
        if let Some((tool, raw)) = self.asked.get(call) {
            let mark = call_mark(tool, raw);
            self.doubted.retain(|known| *known != mark);
            if said == RetryDecision::Skip {
                self.doubted.push(mark);
            }
        }
        // What is made again starts a sub-agent of its own.
        if let Some(started) = self.started.get_mut(call).filter(|_| said == RetryDecision::Retry) {
            started.subagent = None;
            started.answers.clear();
        }
        if said == RetryDecision::Unanswered {
            self.unanswered.push((call.to_owned(), action.to_owned()));
        }
        said == RetryDecision::Unanswered
    }
}
