//! The defined agents that a skill may name to run it.

use std::num::NonZeroU32;

use metier_catalog::Layout;
use metier_definition::{AgentDefinition, LimitSetting, Role, definitions};
use metier_policy::McpTools;

use crate::agent_profile::own_scope;
use crate::subagent::SubagentProfile;

/// The agent of this name in a project or of its user, for a skill that names it. Agents of an untrusted project are left out.
pub fn defined_agent(layout: &Layout, name: &str) -> Option<SubagentProfile> {
    let trusted = definitions(layout).into_iter().filter(|found| found.origin.is_trusted());
    let read = trusted.map(|found| AgentDefinition::read(found.format, &found.file, &found.boundary));
    // `metier agents` tells what is wrong in a file; an agent with an error runs nothing.
    let mut valid = read.filter(|read| read.definition.is_called(name) && read.is_valid());
    valid.next()?.definition.entry().map(child_agent)
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
