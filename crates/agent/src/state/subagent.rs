use metier_store::{MissingApproval, Outcome, SessionId, SubagentMode};

use crate::subagent::Worker;

/// The sub-agents that no call waits for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Subagents {
    /// Those in the background that have not ended.
    pub(crate) background: Vec<StartedSubagent>,
    /// The one that is the answer to the user's message.
    pub(crate) invoked: Option<Invoked>,
}

/// A sub-agent that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StartedSubagent {
    pub(crate) id: SessionId,
    pub(crate) worker: Worker,
    pub(crate) mode: SubagentMode,
    /// How it ended, where its parent knows.
    pub(crate) outcome: Option<Outcome>,
    /// The approvals that it lacked.
    pub(crate) missing: Vec<MissingApproval>,
}

/// A sub-agent that is the answer to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invoked {
    pub(crate) child: StartedSubagent,
    /// Whether its result is in the conversation already.
    pub(crate) is_told: bool,
}

impl Invoked {
    /// Whether it cannot answer any more: the model was told, and answers itself.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_told && self.child.outcome == Some(Outcome::Cancelled)
    }
}

impl StartedSubagent {
    pub(super) fn new(id: SessionId, skill: Option<&str>, agent: Option<&str>, mode: &SubagentMode) -> Self {
        let worker = match (skill, agent) {
            (None, Some(name)) => Worker::Role(name.to_owned()),
            (skill, _) => Worker::Skill(skill.unwrap_or_default().to_owned()),
        };
        Self { id, worker, mode: mode.clone(), outcome: None, missing: Vec::new() }
    }

    pub(super) fn is_background(&self) -> bool {
        self.mode == SubagentMode::Background
    }
}

impl Subagents {
    pub(super) fn start(&mut self, child: StartedSubagent) {
        if child.is_background() {
            self.background.push(child);
        } else {
            self.invoked = Some(Invoked { child, is_told: false });
        }
    }

    pub(super) fn end(&mut self, id: SessionId, outcome: Outcome) {
        self.background.retain(|known| known.id != id);
        if let Some(invoked) = self.invoked.as_mut().filter(|invoked| invoked.child.id == id) {
            invoked.child.outcome = Some(outcome);
        }
    }

    /// The model was told of a sub-agent that ended.
    pub(super) fn told(&mut self) {
        if let Some(invoked) = self.invoked.as_mut().filter(|invoked| invoked.child.outcome.is_some()) {
            invoked.is_told = true;
        }
    }
}
