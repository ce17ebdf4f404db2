//! For programs: one document, keys documented and stable.

use super::super::judged::{Judged, Outcome};
use super::super::portability;
use crate::args::Check;
use crate::output::Output;
use anyhow::Result;
use metier_diagnostic::{Diagnostic, Diff, JsonDiagnostic, Severity};
use serde::Serialize;

#[derive(Serialize)]
struct Report<'a> {
    checked: usize,
    errors: usize,
    warnings: usize,
    infos: usize,
    allowed: usize,
    fixable: usize,
    fixed: usize,
    diagnostics: Vec<Finding<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    portability: Option<Vec<portability::Row<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diffs: Option<Vec<String>>,
}

/// A diagnostic as everywhere, with what mends it.
#[derive(Serialize)]
struct Finding<'a> {
    #[serde(flatten)]
    found: JsonDiagnostic<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<Fix<'a>>,
}

#[derive(Serialize)]
struct Fix<'a> {
    label: &'a str,
    edits: Vec<Edit<'a>>,
}

/// Bytes `start..end` of the file give way to a text.
#[derive(Serialize)]
struct Edit<'a> {
    start: u32,
    end: u32,
    text: &'a str,
}

impl<'a> From<&'a Diagnostic> for Finding<'a> {
    fn from(found: &'a Diagnostic) -> Self {
        let fix = found.fix.as_ref().map(|fix| Fix {
            label: &fix.label,
            edits: fix
                .edits
                .iter()
                .map(|edit| Edit { start: edit.span.start, end: edit.span.end, text: &edit.text })
                .collect(),
        });
        Self { found: found.into(), fix }
    }
}

pub(super) fn write(args: &Check, outcome: &Outcome, output: &mut Output) -> Result<()> {
    let rows = || outcome.skills.iter().filter_map(Judged::row).collect();
    let patch = |mending: &super::super::mending::Mending| {
        Diff::new(&mending.shown, &mending.before, &mending.after).patch()
    };
    output.json(&Report {
        checked: outcome.skills.len() + outcome.agents.len(),
        errors: outcome.count(Severity::Error),
        warnings: outcome.count(Severity::Warning),
        infos: outcome.count(Severity::Info),
        allowed: outcome.allowed,
        fixable: outcome.fixable(),
        fixed: if args.fix { outcome.mendings().map(|mending| mending.fixes).sum() } else { 0 },
        diagnostics: outcome.findings().map(Finding::from).collect(),
        portability: (!args.profiles.is_empty()).then(rows),
        diffs: args.diff.then(|| outcome.mendings().map(patch).collect()),
    })
}
