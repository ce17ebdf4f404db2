//! The outcome of a check as people and programs read it.

mod json;
mod text;

use super::judged::Outcome;
use crate::args::{Check, CheckFormat};
use crate::output::Output;
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::MAX_DOCUMENT;
use metier_diagnostic::{Code, Diagnostic, Sarif, SarifTool, render_github};
use metier_files::read_bounded;
use metier_lint::rules;
use std::path::Path;

pub(super) fn write(
    args: &Check,
    format: CheckFormat,
    outcome: &Outcome,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<()> {
    match format {
        CheckFormat::Text => text::write(args, outcome, surroundings, output),
        CheckFormat::Json => json::write(args, outcome, output),
        CheckFormat::Sarif => {
            let findings: Vec<Diagnostic> = outcome.findings().cloned().collect();
            let codes: Vec<&'static Code> = rules::ALL.iter().map(|rule| &rule.code).collect();
            let tool = SarifTool {
                name: "metier",
                version: env!("CARGO_PKG_VERSION"),
                information_uri: None,
                help_base: None,
                codes: &codes,
            };
            let source = |path: &Path| source(path, surroundings);
            output.json(&Sarif::new(tool, &findings, &surroundings.places.current, source))
        }
        CheckFormat::Github => {
            for found in outcome.findings() {
                let source = found.path.as_deref().and_then(|path| source(path, surroundings));
                output.line(render_github(found, source.as_deref()))?;
            }
            Ok(())
        }
    }
}

/// The text of a file that a finding points into.
fn source(path: &Path, surroundings: &Surroundings) -> Option<String> {
    let bytes = read_bounded(&surroundings.opened(path), MAX_DOCUMENT).ok().flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
