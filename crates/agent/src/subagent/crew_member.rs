//! A crew member: a role with skills of its own that the first member hands work to.

use std::sync::Arc;

use crate::agent_profile::AgentProfile;
use metier_tools::ToolServer;

/// What a role is told after its instructions when work was handed to it.
pub(crate) const ROLE_RULES: &str = "# How to work\n\
     This work was handed over to you, and you report to the agent that handed it over, not to the user.\n\
     1. Begin with a call: hand over to the skill that fits, with everything it has to know, or call a tool.\n\
     2. Where something is not said, take the most likely value; ask nothing.\n\
     3. As soon as you have the result, call `hand_back` with it. Where none of your skills fits, hand back and say so.";

/// A crew member, as the first member knows it.
#[derive(Clone)]
pub struct CrewMember {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its instructions.
    pub instructions: String,
    /// Its own skills.
    pub part: AgentProfile,
    /// Its model, if it names one.
    pub model: Option<String>,
    /// Its effort, likewise.
    pub effort: Option<String>,
    /// The tools of its own servers, which are started with it.
    pub outside: Option<Arc<dyn ToolServer>>,
}

impl CrewMember {
    /// The description of its handoff tool.
    pub(crate) fn purpose(&self) -> String {
        let name = &self.name;
        let what = match metier_catalog::one_line(&self.description, 1_024) {
            what if what.is_empty() => String::new(),
            what => format!(": {what}"),
        };
        let references = self.part.skills.iter().flat_map(|own| own.iter());
        let skills: Vec<&str> = references.map(|reference| bare(reference)).collect();
        let skills = if skills.is_empty() { "none".to_owned() } else { skills.join(", ") };
        format!("Hands over to {name}, another agent of this crew{what}\nIts skills: {skills}.")
    }
}

/// A skill's name without where it comes from, which no model needs to know.
fn bare(reference: &str) -> &str {
    reference.rsplit_once(':').map_or(reference, |(_, name)| name)
}
