use std::collections::HashMap;

use metier_store::{Activated, Answered, Called, Doubt, Effect, MissingApproval, Outcome, SessionId};

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
        let started = StartedCall { called: called.clone(), activated: None, subagent: None };
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

    /// What waits for a person: own calls that may have happened, and calls whose sub-agents wait.
    pub(crate) fn waiting(&self) -> Vec<String> {
        let subagents = self.started.values().filter_map(|started| started.subagent.as_ref());
        let waiting = subagents.filter(|subagent| subagent.outcome == Some(Outcome::NeedsYes));
        let actions =
            waiting.flat_map(|subagent| subagent.missing.iter().map(|missing| missing.action.clone()));
        self.unanswered.iter().map(|(_, action)| action.clone()).chain(actions).collect()
    }

    /// Work continues: what waited for a person is tried again.
    pub(super) fn resume(&mut self) {
        self.unanswered.clear();
        for subagent in self.started.values_mut().filter_map(|started| started.subagent.as_mut()) {
            subagent.outcome = subagent.outcome.filter(|outcome| *outcome != Outcome::NeedsYes);
        }
    }

    /// Takes what was decided about a call that may have run. True if no one could be asked.
    pub(super) fn doubt(&mut self, call: &str, action: &str, said: Doubt) -> bool {
        if let Some((tool, raw)) = self.asked.get(call) {
            let mark = call_mark(tool, raw);
            self.doubted.retain(|known| *known != mark);
            if said == Doubt::Leave {
                self.doubted.push(mark);
            }
        }
        // What is made again starts a sub-agent of its own.
        if let Some(started) = self.started.get_mut(call).filter(|_| said == Doubt::Again) {
            started.subagent = None;
        }
        if said == Doubt::Unanswered {
            self.unanswered.push((call.to_owned(), action.to_owned()));
        }
        said == Doubt::Unanswered
    }
}
