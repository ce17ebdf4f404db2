//! Which agent is run: a file, or a name in one of the known places, read and held against what there is.

use crate::model_choice::{MODEL_FLAG, Wish};
use crate::output::clean;
use crate::surroundings::Surroundings;
use anyhow::{Result, bail};
use metier_catalog::{Include, Snapshot};
use metier_definition::{
    AgentDefinition, CheckContext, DefinitionFile, DefinitionFormat, DefinitionOrigin, ParsedDefinition,
    Role, definition_at, definitions,
};
use metier_diagnostic::{Diagnostic, Paint, Severity, counted, render_text};
use metier_files::{Kind, kind};
use metier_mcp_client::Servers;
use std::fmt::Write;
use std::path::Path;

/// An agent that was found, whether it may start or not.
pub(crate) struct AgentChoice {
    pub(crate) found: DefinitionFile,
    pub(crate) read: ParsedDefinition,
    /// What is around it: a crew is looked at from its own folder, since that is where its skills are.
    pub(crate) surroundings: Surroundings,
    /// The skills that are there.
    pub(crate) snapshot: Snapshot,
}

impl AgentChoice {
    /// Finds an agent by its file, else by its name.
    pub(crate) fn find(wanted: &str, surroundings: &Surroundings) -> Result<Self> {
        let path = surroundings.places.current.join(wanted);
        let is_path = wanted.contains('/') || DefinitionFormat::of(Path::new(wanted), None).is_some();
        if is_path || kind(&path) == Kind::File {
            if kind(&path) != Kind::File {
                bail!(
                    "there is no file `{}`; `metier agents` lists the agents that there are",
                    clean(wanted)
                );
            }
            let Some(found) = definition_at(&path, &surroundings.layout) else {
                bail!(
                    "`{}` defines no agent: a file is called `NAME.md` or `NAME.skilled_crew.yaml`",
                    clean(wanted)
                );
            };
            return Ok(Self::of(found, surroundings));
        }
        let mut names = Vec::new();
        for found in definitions(&surroundings.layout) {
            let definition = AgentDefinition::read(found.format, &found.file, &found.boundary).definition;
            if definition.is_called(wanted) {
                return Ok(Self::of(found, surroundings));
            }
            names.push(format!("`{}`", clean(&definition.name.value)));
        }
        match names.as_slice() {
            [] => bail!(
                "there is no agent `{}`, and no other; docs/agents.md says how one is written",
                clean(wanted)
            ),
            names => bail!("there is no agent `{}`; there are {}", clean(wanted), names.join(", ")),
        }
    }

    /// Reads an agent that was found and holds it against what there is.
    pub(crate) fn of(found: DefinitionFile, surroundings: &Surroundings) -> Self {
        let (found, surroundings) = match (found.format, found.file.parent()) {
            (DefinitionFormat::Crew, Some(folder)) => {
                let own = surroundings.seen_from(folder);
                (definition_at(&found.file, &own.layout).unwrap_or(found), own)
            }
            _ => (found, surroundings.clone()),
        };
        let snapshot = surroundings.snapshot(Include::Usual);
        let wish = || Wish::new(None, MODEL_FLAG, &surroundings);
        let model = |name: &str| wish().knows(name).map_err(|error| format!("{error:#}"));
        // With roots of the command line nobody has looked which servers there are.
        let servers = surroundings.servers.iter().flat_map(Servers::configs);
        let servers: Vec<String> = servers.map(|config| config.label.clone()).collect();
        let servers = surroundings.is_usual.then_some(servers.as_slice());
        let known = CheckContext { snapshot: &snapshot, model: &model, servers };
        let read = AgentDefinition::read(found.format, &found.file, &found.boundary).check(&known);
        Self { found, read, surroundings, snapshot }
    }

    /// Who is spoken to.
    pub(crate) fn role(&self) -> Option<&Role> {
        self.read.definition.entry()
    }

    /// The model that it asks for, where there is one of that name here, and who says so.
    pub(crate) fn model(&self) -> Option<(&str, String)> {
        let model = self.role()?.model.as_ref()?;
        let is_foreign = |found: &&Diagnostic| found.code.name() == "agent-model-foreign";
        let is_known = self.read.diagnostics.iter().filter(is_foreign).count() == 0;
        is_known.then(|| (model.value.as_str(), format!("`model` of the agent in {}", self.shown())))
    }

    /// What its file is called, as people write it.
    pub(crate) fn shown(&self) -> String {
        self.surroundings.shown(&self.found.file)
    }

    /// Whether it is a stranger's: read, shown, and not acted on.
    pub(crate) fn is_untrusted(&self) -> bool {
        self.found.origin == DefinitionOrigin::UntrustedProject
    }

    /// Its problems as text, each with its file and its line.
    pub(crate) fn report(&self, from: Severity, paint: Paint) -> String {
        let mut report = String::new();
        for found in self.read.diagnostics.iter().filter(|found| found.severity() >= from) {
            let source = Surroundings::source_of(found);
            let text = render_text(&self.surroundings.relative(found), source.as_deref(), paint);
            let _ = writeln!(report, "{}", text.trim_end());
        }
        report
    }
}

/// Says why agents do not start, all of it at once; nothing where they do.
pub(crate) fn refusal(chosen: &[AgentChoice], paint: Paint) -> Option<String> {
    let errors: usize = chosen.iter().map(|agent| agent.read.errors().count()).sum();
    if errors == 0 {
        return None;
    }
    let names: Vec<String> = chosen
        .iter()
        .filter(|agent| !agent.read.is_valid())
        .map(|agent| format!("`{}`", clean(&agent.read.definition.name.value)))
        .collect();
    let verb = if names.len() == 1 { "does not start" } else { "do not start" };
    let found: usize = chosen
        .iter()
        .map(|agent| {
            agent.read.diagnostics.iter().filter(|found| found.severity() >= Severity::Warning).count()
        })
        .sum();
    let mut text = format!("{} {verb}: {}\n", names.join(" and "), counted(found, "problem", "problems"));
    for agent in chosen {
        text.push_str(&agent.report(Severity::Warning, paint));
    }
    Some(text)
}
