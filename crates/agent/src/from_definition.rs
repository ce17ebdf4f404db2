//! Turns a definition into an agent that works: its profile, limits and tools, and the agents that it hands work to.

mod agents;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use metier_catalog::{Amount, LimitsConfig, Snapshot};
use metier_definition::{AgentDefinition, DefinitionFormat, LimitSetting, Role, RoleBudget};
use metier_runtime::Surface;
use metier_tools::{Setting, ToolServer};

pub use self::agents::defined_agent;
use crate::agent::{Agent, Disclosure};
use crate::agent_profile::AgentProfile;
use crate::limits::Limits;
use crate::models::effort;
use crate::prompt_prefix::INSTRUCTIONS;
use crate::subagent::CrewMember;

impl Agent {
    /// Gives the agent a role: its instructions, skills, tools and limits. The caller chooses its model and how its skills are
    /// listed; [`Agent::with_crew`] adds the agents that it hands work to.
    pub fn with_role(
        self,
        definition: &AgentDefinition,
        role: &Role,
        snapshot: &Snapshot,
        user: &LimitsConfig,
    ) -> Self {
        let mut agent = Self {
            part: profile(&definition.name.value, role, role.references(snapshot)),
            surface: surface(definition.format),
            disclosure: if role.hands_off() { Disclosure::Handoff } else { Disclosure::Catalogue },
            limits: Limits::settled(&role.budget, user),
            instructions: instructions(definition, role).into(),
            ..self
        };
        agent.selection.effort = role.effort.as_ref().and_then(|word| effort(&word.value));
        agent
    }

    /// Gives the agent a role and the other roles of its crew to hand work to. `outside` has the server tools of each role.
    pub fn with_crew(
        self,
        definition: &AgentDefinition,
        role: &Role,
        snapshot: &Snapshot,
        user: &LimitsConfig,
        outside: &dyn Fn(&Role) -> Option<Arc<dyn ToolServer>>,
    ) -> Self {
        let others = definition.roles.iter().filter(|other| other.name != role.name);
        let member = |other: &Role| CrewMember {
            name: other.name.value.clone(),
            description: other.description.as_ref().map_or_else(String::new, |text| text.value.clone()),
            instructions: instructions(definition, other),
            part: profile(&other.name.value, other, other.references(snapshot)),
            model: other.model.as_ref().map(|model| model.value.clone()),
            effort: other.effort.as_ref().map(|effort| effort.value.clone()),
            outside: outside(other),
        };
        let colleagues = others.map(member).collect();
        let agent = self.with_role(definition, role, snapshot, user);
        Self { outside: outside(role), colleagues, ..agent }
    }

    /// Makes an agent with a role work alone: the skills that it would reach by a handoff become its own.
    pub fn without_crew(self, definition: &AgentDefinition, role: &Role, snapshot: &Snapshot) -> Self {
        Self {
            part: profile(&definition.name.value, role, definition.reachable_from(role, snapshot)),
            colleagues: Arc::default(),
            disclosure: Disclosure::Catalogue,
            surface: Surface::default(),
            ..self
        }
    }
}

/// The setting of a role's general tools. The roles of a crew have none but questions: their skills do the work.
#[must_use]
pub fn role_setting(setting: Setting, role: &Role, format: DefinitionFormat) -> Setting {
    let is_crew = format == DefinitionFormat::Crew;
    let memory = role.memory.unwrap_or(setting.memory && !is_crew);
    if is_crew {
        return Setting { memory, project: None, web: None, commands: false, ..setting };
    }
    Setting { memory, ..setting }
}

impl Limits {
    /// The limits of a run: the user's configuration, the role's file, the defaults.
    pub fn settled(budget: &RoleBudget, user: &LimitsConfig) -> Self {
        let default = Self::default();
        let number = |number: Option<NonZeroU32>| number.map(|number| u64::from(number.get()));
        let count = |own: LimitSetting, user: Option<NonZeroU32>, default: u64| {
            own.settle(number(user), Some(default)).unwrap_or(u64::MAX)
        };
        let money = user.money.as_ref().map(Amount::micros);
        let time = default.time.map(|time| time.as_secs());
        Self {
            turns: count(budget.turns, user.turns, default.turns),
            calls: count(budget.calls, user.calls, default.calls),
            tokens: count(budget.tokens, user.tokens, default.tokens),
            money_micros: budget.money_micros.settle(money, default.money_micros),
            time: budget.seconds.settle(number(user.seconds), time).map(Duration::from_secs),
            ..default
        }
    }
}

fn profile(name: &str, role: &Role, skills: Option<Vec<String>>) -> AgentProfile {
    AgentProfile {
        name: Some(name.to_owned()),
        skills: skills.map(Into::into),
        tools: role.tools.as_ref().map(|tools| tools.value.as_slice().into()),
        disallowed: role.disallowed.as_slice().into(),
    }
}

/// The instructions of every agent, then those of the role.
fn instructions(definition: &AgentDefinition, role: &Role) -> String {
    let heading = if definition.format == DefinitionFormat::Crew { "# AGENTS.md:\n\n" } else { "" };
    match role.instructions.as_str() {
        "" => INSTRUCTIONS.to_owned(),
        own => format!("{INSTRUCTIONS}\n\n{heading}{own}"),
    }
}

/// The tool surface of a format: that of the system that the file was written for, where it has its own.
fn surface(format: DefinitionFormat) -> Surface {
    match format {
        DefinitionFormat::AgentMd => Surface::Agentmd,
        DefinitionFormat::Crew => Surface::SkilledCrew,
        DefinitionFormat::Agent | DefinitionFormat::Claude => Surface::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_word_the_usual_limits_hold() {
        let user = LimitsConfig::default();
        assert_eq!(Limits::settled(&RoleBudget::default(), &user), Limits::default());
        assert_eq!(Limits::settled(&RoleBudget::default(), &user).turns, 50);
        let unlimited = RoleBudget { calls: LimitSetting::Unlimited, ..RoleBudget::default() };
        assert_eq!(Limits::settled(&unlimited, &user).calls, u64::MAX);
    }
}
