//! From a definition to an agent that works.

use metier_catalog::{LimitsConfig, Snapshot};
use metier_model::Effort;
use metier_runtime::Surface;

use super::{Definition, Form, Manner, Remembers, Role};
use crate::agent::{Agent, Disclosure};
use crate::frame::INSTRUCTIONS;
use crate::part::Part;
use crate::tools::{Offer, Setting};

impl Role {
    /// Makes an agent play this role: its instructions, skills, tools and limits. Its model is for whoever knows the models, and how
    /// its skills are listed for whoever opened them.
    #[must_use]
    pub fn played_by(
        &self,
        agent: Agent,
        definition: &Definition,
        snapshot: &Snapshot,
        user: &LimitsConfig,
    ) -> Agent {
        let tools = self.tools.as_ref().map(|tools| tools.value.as_slice());
        let part = Part::named(&definition.name.value)
            .skills(definition.visible_to(self, snapshot))
            .tools(tools, &self.disallowed);
        agent
            .part(part)
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
    /// The skills that a role sees. Who is spoken to in a crew sees those of everybody: the others are reached through it.
    pub fn visible_to(&self, role: &Role, snapshot: &Snapshot) -> Option<Vec<String>> {
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

    /// What a role is told: what every agent is, then its own words, then who else is in the crew.
    fn instructions_of(&self, role: &Role) -> String {
        let mut text = INSTRUCTIONS.to_owned();
        let heading = if self.form == Form::Crew { "# AGENTS.md:\n\n" } else { "" };
        if !role.instructions.is_empty() {
            text = format!("{text}\n\n{heading}{}", role.instructions);
        }
        for other in self.roles.iter().filter(|other| other.name != role.name) {
            let what = other.description.as_ref().map_or("", |description| &description.value);
            let skills: Vec<&str> =
                other.skills.named().iter().map(|wish| wish.name.value.as_str()).collect();
            let skills = if skills.is_empty() { "none".to_owned() } else { skills.join(", ") };
            text =
                format!("{text}\n\n## The part of {}: {what}\n\nSkills for it: {skills}.", other.name.value);
            if !other.instructions.is_empty() {
                text = format!("{text}\n\n{}", other.instructions);
            }
        }
        text
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
