//! The defined agents that a skill may name to run it.

use std::num::NonZeroU32;
use std::sync::Arc;

use metier_catalog::Layout;
use metier_definition::{AgentDefinition, LimitSetting, Role, definitions};
use metier_policy::McpTools;

use crate::agent_profile::own_scope;
use crate::subagent::{AgentDirectory, SubagentProfile};

/// The agents of a project and its user, looked up when a skill names one. Agents of an untrusted project are left out.
#[derive(Clone, Debug)]
pub struct DefinedAgents {
    layout: Arc<Layout>,
}

impl DefinedAgents {
    /// The agents of this layout.
    pub fn new(layout: Arc<Layout>) -> Self {
        Self { layout }
    }
}

impl AgentDirectory for DefinedAgents {
    fn find(&self, name: &str) -> Option<SubagentProfile> {
        let trusted = definitions(&self.layout).into_iter().filter(|found| found.origin.is_trusted());
        let read = trusted.map(|found| AgentDefinition::read(found.format, &found.file, &found.boundary));
        // `metier agents` tells what is wrong in a file; an agent with an error runs nothing.
        let mut valid = read.filter(|read| read.definition.is_called(name) && read.is_valid());
        valid.next()?.definition.entry().map(child_agent)
    }
}

/// A role as the agent of a sub-agent. The skill is given, so the role's own list of skills does not apply.
fn child_agent(role: &Role) -> SubagentProfile {
    let tools = role.tools.as_ref().map(|tools| tools.value.as_slice());
    let max_turns = match role.budget.turns {
        LimitSetting::At(turns) => NonZeroU32::try_from(turns).ok(),
        LimitSetting::Unset | LimitSetting::Unlimited => None,
    };
    SubagentProfile {
        instructions: role.instructions.clone(),
        model: role.model.as_ref().map(|model| model.value.clone()),
        effort: role.effort.as_ref().map(|effort| effort.value.clone()),
        max_turns,
        scope: own_scope(&role.name.value, tools, &role.disallowed, &McpTools::default()),
    }
}
