//! Agent files that run skills: a skill names one with `agent:`.

use std::num::NonZeroU32;

use metier_policy::Scope;

/// Finds agents by name.
pub type AgentDirectory = dyn Fn(&str) -> Option<SubagentProfile> + Send + Sync;

/// An agent that runs a skill in a sub-agent.
#[derive(Clone, Debug, Default)]
pub struct SubagentProfile {
    /// Its instructions, which precede the skill's text.
    pub instructions: String,
    /// Its model, if the skill asks for none.
    pub model: Option<String>,
    /// Its effort, likewise.
    pub effort: Option<String>,
    /// How many turns it may take; the smaller number counts.
    pub max_turns: Option<NonZeroU32>,
    /// Its list of tools. It narrows what the skill and the sessions above allow, and widens nothing.
    pub scope: Option<Scope>,
}
