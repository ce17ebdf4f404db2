//! From a definition to an agent that works.

use std::sync::Arc;

use metier_catalog::{LimitsConfig, Snapshot};
use metier_model::Effort;
use metier_runtime::Surface;

use super::{Definition, Form, Manner, Remembers, Role};
use crate::agent::{Agent, Disclosure};
use crate::child::Colleague;
use crate::frame::INSTRUCTIONS;
use crate::outside::OutsideTools;
use crate::part::Part;
use crate::tools::{Offer, Setting};

impl Role {
    /// Makes an agent play this role: its instructions, skills, tools and limits. Its model is for whoever knows the models, how
    /// its skills are listed for whoever opened them, and its colleagues for [`Definition::played_by`].
    #[must_use]
    pub fn played_by(
        &self,
        agent: Agent,
        definition: &Definition,
        snapshot: &Snapshot,
        user: &LimitsConfig,
    ) -> Agent {
        agent
            .part(definition.part_of(self, self.references(snapshot)))
            .surface(surface(definition.form))
            .disclosure(if self.hands_over() { Disclosure::Handoff } else { Disclosure::Catalogue })
            .limits(self.budget.settle(user))
            .effort(self.effort())
            .instructions(&definition.instructions_of(self))
    }

    /// How much its model thinks, where it says so in a word or a number that is known.
    fn effort(&self) -> Option<Effort> {
        match self.effort.as_ref()?.value.as_str() {
            "low" => Some(Effort::Low),
            "medium" => Some(Effort::Medium),
            "high" => Some(Effort::High),
            number => number.parse().ok().map(Effort::Tokens),
        }
    }

    /// What its general tools work with. A crew's roles have none but questions: work is done by their skills.
    #[must_use]
    pub fn setting(&self, form: Form, usual: Setting) -> Setting {
        let memory = match self.memory {
            Some(Remembers::Yes) => Offer::Yes,
            Some(Remembers::No) => Offer::No,
            None if form == Form::Crew => Offer::No,
            None => usual.memory,
        };
        if form == Form::Crew {
            return Setting { memory, project: None, web: None, commands: Offer::No, ..usual };
        }
        Setting { memory, ..usual }
    }

    /// Whether its skills work in conversations of their own.
    pub fn hands_over(&self) -> bool {
        self.manner == Some(Manner::Handoff)
    }
}

impl Definition {
    /// Makes an agent play a role, with everybody whom it hands work over to. `outside` has the tools of each one's servers.
    #[must_use]
    pub fn played_by(
        &self,
        role: &Role,
        agent: Agent,
        snapshot: &Snapshot,
        user: &LimitsConfig,
        outside: &dyn Fn(&Role) -> Option<Arc<dyn OutsideTools>>,
    ) -> Agent {
        let others = self.roles.iter().filter(|other| other.name != role.name);
        let colleague = |other: &Role| Colleague {
            name: other.name.value.clone(),
            description: other.description.as_ref().map_or_else(String::new, |text| text.value.clone()),
            instructions: self.instructions_of(other),
            part: self.part_of(other, other.references(snapshot)).named_as(&other.name.value),
            model: other.model.as_ref().map(|model| model.value.clone()),
            effort: other.effort.as_ref().map(|effort| effort.value.clone()),
            outside: outside(other),
        };
        let colleagues = others.map(colleague).collect();
        role.played_by(agent, self, snapshot, user).outside(outside(role)).colleagues(colleagues)
    }

    /// Makes an agent that hands over to nobody of one that does: everything that is reached through the role is its own.
    #[must_use]
    pub fn played_alone(&self, role: &Role, agent: Agent, snapshot: &Snapshot) -> Agent {
        agent
            .part(self.part_of(role, self.reachable_from(role, snapshot)))
            .colleagues(Vec::new())
            .disclosure(Disclosure::Catalogue)
            .surface(Surface::default())
    }

    fn part_of(&self, role: &Role, skills: Option<Vec<String>>) -> Part {
        let tools = role.tools.as_ref().map(|tools| tools.value.as_slice());
        Part::named(&self.name.value).skills(skills).tools(tools, &role.disallowed)
    }

    /// The skills that a role has, and those of everybody whom it hands work over to: what a user can ask of it.
    pub fn reachable_from(&self, role: &Role, snapshot: &Snapshot) -> Option<Vec<String>> {
        let is_entry = self.entry().is_some_and(|entry| entry.name == role.name);
        if self.form != Form::Crew || !is_entry {
            return role.references(snapshot);
        }
        let mut all: Vec<String> = role.references(snapshot).unwrap_or_default();
        for reference in self.roles.iter().flat_map(|role| role.references(snapshot).unwrap_or_default()) {
            if !all.contains(&reference) {
                all.push(reference);
            }
        }
        Some(all)
    }

    /// What a role is told: what every agent is, then its own words.
    fn instructions_of(&self, role: &Role) -> String {
        let heading = if self.form == Form::Crew { "# AGENTS.md:\n\n" } else { "" };
        match role.instructions.as_str() {
            "" => INSTRUCTIONS.to_owned(),
            own => format!("{INSTRUCTIONS}\n\n{heading}{own}"),
        }
    }
}

/// Whose tools the agents of a form have: those of the system that they were written for, where it has its own.
fn surface(form: Form) -> Surface {
    match form {
        Form::AgentMd => Surface::Agentmd,
        Form::Crew => Surface::SkilledCrew,
        Form::Agent | Form::Claude => Surface::default(),
    }
}
