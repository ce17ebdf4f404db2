//! An agent's profile: its name, its skills and its tools.

use std::sync::Arc;

use metier_catalog::Unresolved;
use metier_policy::{Dialect, Folders, McpTools, Meaning, Scope, Skill, Terms};
use metier_runtime::{SkillSession, Skills, Surface};
use metier_skill::ToolPattern;

use crate::prompt_prefix::PromptPrefix;
use metier_tools::ExternalTools;

/// An agent's profile. The default one sees every skill and has every tool.
#[derive(Clone, Debug, Default)]
pub struct AgentProfile {
    /// Its name.
    pub name: Option<String>,
    /// The only skills it sees, as references; `None` if it sees all.
    pub skills: Option<Arc<[String]>>,
    /// The only tools it has; `None` if it has all. Both lists hold for the whole session and for its sub-agents: other tools are not
    /// offered, and refused if they are called.
    pub tools: Option<Arc<[ToolPattern]>>,
    /// The tools that it has not.
    pub disallowed: Arc<[ToolPattern]>,
}

impl AgentProfile {
    /// Starts a session for it, beneath another one if work is handed to it.
    pub(crate) fn session(
        &self,
        skills: &Skills,
        surface: Surface,
        outside: &ExternalTools,
        above: Option<&SkillSession>,
    ) -> Result<SkillSession, Vec<Unresolved>> {
        let session = match &self.skills {
            Some(list) => skills.session_with(surface, list.iter().map(String::as_str))?,
            None => skills.session_on(surface),
        };
        let session = match above {
            Some(above) => session.beneath(above),
            None => session,
        };
        Ok(match self.scope(outside) {
            Some(scope) => session.held_by(scope),
            None => session,
        })
    }

    /// The prefix without the tools that it has not.
    pub(crate) fn framed(&self, frame: PromptPrefix, outside: &ExternalTools) -> PromptPrefix {
        let Some(scope) = self.scope(outside) else { return frame };
        frame.keeping(|name| outside.meant(name).is_none_or(|offered| scope.offers(offered)))
    }

    /// The scope that its lists of tools make. A bare name in them may be that of a server's tool.
    fn scope(&self, outside: &ExternalTools) -> Option<Scope> {
        let name = self.name.as_deref().unwrap_or("this one");
        own_scope(name, self.tools.as_deref(), &self.disallowed, outside.known())
    }
}

/// The scope that an agent's own lists of tools make, if it has any.
pub(crate) fn own_scope(
    name: &str,
    tools: Option<&[ToolPattern]>,
    disallowed: &[ToolPattern],
    known: &McpTools,
) -> Option<Scope> {
    if tools.is_none() && disallowed.is_empty() {
        return None;
    }
    let terms = Terms {
        skill: Skill::new(name, Skill::AGENT),
        tools,
        disallowed,
        // A fence, not a grant: a file says what its agent may not do, and never what needs no approval.
        meaning: Meaning::Fence,
        dialect: Dialect::Usual,
        folders: Folders::default(),
    };
    Some(Scope::open(terms, known))
}
