//! The environment names that bodies may use, and bodies that use others.

use super::subject::Subject;
use metier_activation::{RenderPlan, SkillArguments, TokenValues, code};
use metier_catalog::{DeclaredName, Settings};
use metier_diagnostic::{Diagnostic, Span};
use metier_exec::{Variable, VariableValue};
use std::path::Path;

/// The names that `[env.NAME]` and `.agents/env.*` declare. Those of a project that is not trusted are among them: a check judges the
/// text, and nothing gets a value by it.
pub(crate) struct DeclaredNames(Vec<Variable>);

impl DeclaredNames {
    pub(crate) fn new(settings: &Settings) -> Self {
        let declared = settings.environment.iter().chain(&settings.unheard_environment);
        // What they are does not matter here, so that nobody's environment decides what a check says.
        let variable =
            |declared: &DeclaredName| Variable { name: declared.name.clone(), value: VariableValue::Unset };
        Self(declared.map(variable).collect())
    }

    /// What a body names and nobody declares.
    pub(crate) fn missing_in(&self, subject: &Subject) -> Vec<Diagnostic> {
        let Some(document) = &subject.parsed.document else { return Vec::new() };
        let start = document.body as usize;
        let body = subject.source.get(start..).unwrap_or_default();
        // Few bodies have one, and of the others nothing has to be worked out.
        if !body.contains("${env:") {
            return Vec::new();
        }
        let arguments = SkillArguments::default();
        let values = TokenValues {
            arguments: &arguments,
            declared: &document.manifest.more.arguments,
            skill: Path::new("/"),
            data: None,
            plugin: None,
            project: None,
            session: "",
            environment: &self.0,
        };
        let Ok(plan) = RenderPlan::new(body, values) else { return Vec::new() };
        let found =
            plan.diagnostics().into_iter().filter(|found| found.code == &code::ENVIRONMENT_UNDECLARED);
        found.filter_map(|found| in_file(found, subject, start)).collect()
    }
}

/// A finding of a body, at its place in the file.
fn in_file(found: Diagnostic, subject: &Subject, start: usize) -> Option<Diagnostic> {
    let Span { start: from, end } = found.place?.span;
    let span = Span::new(start + from as usize, start + end as usize);
    Some(found.at(span, &subject.source).in_file(&subject.shown))
}
