//! What happens next in a session, read from its state.

use metier_model::{Stop, ToolCall};
use metier_store::Outcome;

use super::Session;
use super::handoff::handed_back;
use super::model_turn::stop_of;
use crate::compaction::is_due;
use crate::limits::LimitHit;
use crate::state::{Invoked, RunState, SessionState};

/// What happens next.
#[derive(Debug)]
pub(super) enum Effect {
    /// Ask the model.
    AskModel,
    /// Run the calls of the last answer that have no result.
    RunTools(Vec<ToolCall>),
    /// Ask whether a limit may be exceeded.
    AskPerson(LimitHit),
    /// Continue the sub-agent that answers the user's message.
    ContinueSubagent(Invoked),
    /// Wait for the sub-agents in the background.
    AwaitSubagents,
    /// Shorten the conversation.
    Compact,
    /// End the run.
    Finish(End),
}

/// How a run ends.
#[derive(Debug)]
pub(super) struct End {
    pub(super) outcome: Outcome,
    /// The last text.
    pub(super) text: String,
    /// Why it is not done.
    pub(super) why: Option<String>,
}

impl End {
    pub(super) fn new(outcome: Outcome, text: String, why: impl Into<Option<String>>) -> Self {
        Self { outcome, text, why: why.into() }
    }

    pub(super) fn failed(why: String) -> Self {
        Self::new(Outcome::Failed, String::new(), why)
    }
}

impl Session {
    /// The next effect. Everything that decides it is in the state, but for the clock, the cancel token and what sub-agents of this
    /// process have used up.
    pub(super) fn step(&mut self) -> Effect {
        let invoked = self.state(|state| state.subagents.invoked.clone());
        if let Some(invoked) = invoked.filter(|invoked| !invoked.is_lost()) {
            return Effect::ContinueSubagent(invoked);
        }
        let waiting = self.state(|state| state.calls.waiting());
        if !waiting.is_empty() {
            let why = format!(
                "interrupted; may already have run, and needs your approval to run again: {}",
                waiting.join("; ")
            );
            return Effect::Finish(End::new(Outcome::NeedsYes, String::new(), why));
        }
        let calls = self.state(|state| state.history.unfinished_calls());
        if !calls.is_empty() {
            return Effect::RunTools(calls);
        }
        let said = self.state(|state| state.run.said.clone());
        if let Some(message) = self.state(|state| state.run.failure.clone()) {
            return Effect::Finish(End::new(Outcome::Failed, said, message));
        }
        // An answer of a run before this one has nothing to do with it.
        let is_asked = |state: &SessionState| self.prefix.has_hand_back() && state.run.spent.turns > 0;
        let handed = self.state(|state| is_asked(state).then(|| handed_back(state.history.messages()))?);
        if let Some(text) = handed {
            return Effect::Finish(End::new(Outcome::Done, text, None));
        }
        let (is_planner, is_subagent) =
            (self.model.selection.model.is_planner(), self.subagents.is_subagent());
        if let Some(end) = self.state(|state| final_answer(&state.run, is_planner, is_subagent)) {
            if end.outcome == Outcome::Done && !self.subagents.pool.is_empty() {
                return Effect::AwaitSubagents;
            }
            return Effect::Finish(end);
        }
        if self.cancel.is_cancelled() {
            return Effect::Finish(End::new(Outcome::Cancelled, said, "it was stopped".to_owned()));
        }
        if let Some(hit) = self.state(|state| state.run.limit_hit.clone()) {
            return Effect::Finish(End::new(Outcome::Partial, said, hit.to_string()));
        }
        if let Some(hit) = self.limit_hit() {
            return Effect::AskPerson(hit);
        }
        let (measure, compaction) = (self.measure(), self.agent.compaction);
        if self.state(|state| is_due(&state.history, &measure, &compaction)) {
            return Effect::Compact;
        }
        Effect::AskModel
    }

    /// The first limit that ends the run before another turn: its own, the shared one, that of an active skill, or a call that was
    /// repeated too often.
    fn limit_hit(&mut self) -> Option<LimitHit> {
        let repeats = self.state(|state| state.run.repeats.reached());
        let own = repeats.or_else(|| self.limits().before_a_turn(&self.spent(), self.worked()));
        let turns = self.spent().turns;
        own.or_else(|| self.subagents.budget.before_a_turn())
            .or_else(|| self.model.turns_hit(&self.skills, turns))
    }
}

/// How the run ends, if the model's last answer called nothing and nothing came after it.
fn final_answer(run: &RunState, is_planner: bool, is_subagent: bool) -> Option<End> {
    let stop = run.last.as_ref()?.stop.as_deref().map(stop_of);
    let said = run.said.clone();
    // The planner's texts are for the user; a provider's word for an end is not.
    Some(match stop {
        Some(Stop::Length) => {
            let why = "the model's answer was cut at the limit of its output".to_owned();
            End::new(Outcome::Partial, said, why)
        }
        Some(Stop::Refused(why)) if is_planner => End::new(Outcome::Failed, said, why),
        Some(Stop::Refused(why)) => {
            End::new(Outcome::Failed, said, format!("the model declined to answer ({why})"))
        }
        Some(Stop::Failed) if is_planner => End::new(Outcome::Failed, said, None),
        // A provider may use the planner's word; stored, they are the same.
        Some(Stop::Failed) => {
            let why = "the model broke its answer off (failed)".to_owned();
            End::new(Outcome::Failed, said, why)
        }
        Some(Stop::Other(word)) if is_fault(&word) => {
            End::new(Outcome::Failed, said, format!("the model broke its answer off ({word})"))
        }
        // After work was done there may be nothing left to say, and the parent of a sub-agent is told that it said nothing.
        _ if said.is_empty() && run.spent.calls == 0 && !is_subagent && !is_planner => {
            End::new(Outcome::Failed, said, "the model's answer is empty".to_owned())
        }
        _ => End::new(Outcome::Done, said, None),
    })
}

/// Whether a provider's own word for the end of an answer means that the model wanted to continue and could not. Other unknown words
/// end a turn like any other: servers have many.
fn is_fault(word: &str) -> bool {
    let word = word.split(':').next().unwrap_or(word);
    word.starts_with("MALFORMED")
        || matches!(
            word,
            "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "error" | "insufficient_system_resource"
        )
}
