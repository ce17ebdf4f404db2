//! Agents that somebody wrote down, for skills that say which one runs them.

use std::num::NonZeroU32;

use metier_policy::Scope;

/// Agents by their names: what a skill means by `agent:`.
pub trait Agents: Send + Sync {
    /// The agent of this name.
    fn find(&self, name: &str) -> Option<ChildAgent>;
}

/// An agent as far as it runs a skill in a child.
#[derive(Clone, Debug, Default)]
pub struct ChildAgent {
    /// What it is told before the skill's text.
    pub instructions: String,
    /// Its model, where the skill asks for none.
    pub model: Option<String>,
    /// How much it thinks, likewise.
    pub effort: Option<String>,
    /// How many turns it may take; the smaller number counts.
    pub max_turns: Option<NonZeroU32>,
    /// Its list of tools. It narrows what the skill and everything above let be called, and widens nothing.
    pub scope: Option<Scope>,
}
