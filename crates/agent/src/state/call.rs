use std::collections::HashMap;

use metier_store::{Activated, Answered, Called, Doubt, Effect, Outcome, SessionId};

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

    pub(super) fn end_subagent(&mut self, id: SessionId, outcome: Outcome) {
        let subagents = self.started.values_mut().filter_map(|started| started.subagent.as_mut());
        for subagent in subagents.filter(|subagent| subagent.id == id) {
            subagent.outcome = Some(outcome);
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
        let started = self.started.remove(id)?;
        Some(FinishedCall { effect: started.called.effect, input: self.asked.get(id).cloned() })
    }

    /// Takes what was decided about a call that may have happened. True if nobody could decide.
    pub(super) fn doubt(&mut self, call: &str, said: Doubt) -> bool {
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
        said == Doubt::Unanswered
    }
}
