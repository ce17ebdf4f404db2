//! The environment names that the configuration declares, with what they are in this process.

use crate::output::clean;
use crate::surroundings::Surroundings;
use crate::user_values::UserValues;
use anyhow::Result;
use metier_catalog::{Entry, SkillFile, Snapshot};
use metier_exec::{DeclaredEnvironment, Variable, VariableValue};
use metier_runtime::ValueSource;
use metier_skill::injected_commands;
use serde::Serialize;

/// The declared names, with what they are here.
pub(crate) fn declared(surroundings: &Surroundings) -> DeclaredEnvironment {
    UserValues(surroundings.clone()).declared_environment(&surroundings.layout.settings.environment)
}

/// The same, before anything of a skill is started: with a required one missing nothing is.
pub(crate) fn may_start(surroundings: &Surroundings) -> Result<()> {
    Ok(declared(surroundings).check()?)
}

/// What the text of a skill counts on around it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Around {
    /// Where its commands start: `project` or `skill`; `null` where it has none.
    pub(crate) commands_start: Option<&'static str>,
    /// The environment names in its text.
    pub(crate) variables: Vec<Named>,
}

/// An environment name in a skill's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Named {
    pub(crate) name: String,
    /// The file that declares it; `null` where none that is heard does.
    pub(crate) declared_in: Option<String>,
    /// What it is here, in a word.
    pub(crate) is: &'static str,
}

impl Around {
    pub(crate) fn of(
        snapshot: &Snapshot,
        entry: &Entry,
        file: &SkillFile,
        surroundings: &Surroundings,
    ) -> Self {
        let body = file.body();
        let has_commands = !injected_commands(body).is_empty();
        let mut names: Vec<&str> = Vec::new();
        for piece in body.split("${env:").skip(1) {
            let name = piece.split_once('}').map(|(name, _)| name).unwrap_or_default();
            if !name.is_empty() && !name.contains(char::is_whitespace) && !names.contains(&name) {
                names.push(name);
            }
        }
        let variables = if names.is_empty() { Vec::new() } else { named(&names, surroundings) };
        let start = snapshot.root(entry).commands.word();
        Self { commands_start: has_commands.then_some(start), variables }
    }

    /// The same in words, a line each.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if let Some(start) = self.commands_start {
            let words = if start == "skill" { "in the skill's folder" } else { "in the project" };
            lines.push(("commands start", words.to_owned()));
        }
        for variable in &self.variables {
            let from = match &variable.declared_in {
                Some(file) => format!("declared in {file}"),
                None => "declared nowhere that counts, so it stays as it is".to_owned(),
            };
            lines.push(("variable", clean(&format!("{}: {}, {from}", variable.name, variable.is))));
        }
        lines
    }
}

fn named(names: &[&str], surroundings: &Surroundings) -> Vec<Named> {
    let here = declared(surroundings);
    let settings = &surroundings.layout.settings.environment;
    let one = |name: &&str| {
        let variable = here.variables().iter().find(|variable| variable.name == *name);
        let declared = settings.iter().find(|known| known.name == *name).filter(|_| variable.is_some());
        Named {
            name: (*name).to_owned(),
            declared_in: declared.map(|declared| surroundings.shown(&declared.file)),
            is: word(variable),
        }
    };
    names.iter().map(one).collect()
}

fn word(variable: Option<&Variable>) -> &'static str {
    match variable.map(|variable| &variable.value) {
        Some(VariableValue::Text(_)) => "a text",
        Some(VariableValue::Sensitive) => "a secret, never put into text",
        Some(VariableValue::Unset) => "not set, so it is empty",
        Some(VariableValue::Required) => "required and not set, so nothing starts",
        None => "not known",
    }
}
