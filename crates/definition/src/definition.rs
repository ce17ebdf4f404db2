//! A definition: one agent, or a crew of several.

use std::path::Path;
use std::sync::Arc;

use metier_catalog::Snapshot;
use metier_diagnostic::{Diagnostic, Severity};
use metier_skill::Spanned;

use crate::format::DefinitionFormat;
use crate::role::Role;
use crate::slash::SlashCommand;
use crate::{crew, markdown};

/// An agent as its file describes it, or a crew of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDefinition {
    /// The format of the file.
    pub format: DefinitionFormat,
    /// The file.
    pub file: Arc<Path>,
    /// `name`, a crew's `id`, else the name of the file.
    pub name: Spanned<String>,
    /// One role, or each role of a crew.
    pub roles: Vec<Role>,
    /// The index of the role that the user talks to.
    pub entry: usize,
    /// The slash commands that come with it.
    pub commands: Vec<SlashCommand>,
}

/// A parsed file: what was understood of it, and every problem.
#[derive(Clone, Debug)]
pub struct ParsedDefinition {
    /// What was understood.
    pub definition: AgentDefinition,
    /// The problems in the order of the file, then those of the files that it names.
    pub diagnostics: Vec<Diagnostic>,
    /// The text of the file.
    pub source: String,
}

impl AgentDefinition {
    /// Parses a text. Paths in it may not leave the folder `boundary`.
    pub fn parse(
        format: DefinitionFormat,
        file: &Arc<Path>,
        text: &str,
        boundary: &Path,
    ) -> ParsedDefinition {
        match format {
            DefinitionFormat::Crew => crew::parse(file, text, boundary),
            DefinitionFormat::Agent | DefinitionFormat::AgentMd | DefinitionFormat::Claude => {
                markdown::parse(format, file, text)
            }
        }
    }

    /// The role that the user talks to; `None` for a crew without agents.
    pub fn entry(&self) -> Option<&Role> {
        self.roles.get(self.entry)
    }

    /// A role by its name.
    pub fn role(&self, name: &str) -> Option<&Role> {
        self.roles.iter().find(|role| role.name.value == name)
    }

    /// Whether a typed name means this definition: its name, a crew's id, or the name of its file.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.value == name || DefinitionFormat::stem(&self.file) == name
    }

    /// The skills that a user reaches through a role: its own and, for a crew's entry role, those of every role that it can
    /// hand work to. `None` where it sees all skills.
    pub fn reachable_from(&self, role: &Role, snapshot: &Snapshot) -> Option<Vec<String>> {
        let is_entry = self.entry().is_some_and(|entry| entry.name == role.name);
        if self.format != DefinitionFormat::Crew || !is_entry {
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
}

impl ParsedDefinition {
    /// Whether the agent may start: nothing in its file is an error.
    pub fn is_valid(&self) -> bool {
        self.errors().next().is_none()
    }

    /// The problems that keep the agent from starting.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|found| found.severity() == Severity::Error)
    }
}
