//! For programs: one document, keys documented and stable.

use super::super::judged::{Judged, Outcome};
use super::super::mending::Mending;
use crate::args::Check;
use crate::output::Output;
use anyhow::Result;
use metier_diagnostic::{Diagnostic, Diff, JsonDiagnostic, Severity};
use serde_json::{Value, json};

/// A diagnostic as everywhere, with what mends it.
fn finding(found: &Diagnostic) -> Value {
    let mut value = json!(JsonDiagnostic::from(found));
    if let Some(fix) = &found.fix {
        // Bytes `start..end` of the file give way to a text.
        let edit = |edit: &metier_diagnostic::Edit| json!({ "start": edit.span.start, "end": edit.span.end, "text": edit.text });
        value["fix"] = json!({ "label": fix.label, "edits": fix.edits.iter().map(edit).collect::<Vec<_>>() });
    }
    value
}

pub(super) fn write(args: &Check, outcome: &Outcome, output: &mut Output) -> Result<()> {
    let fixed: usize = outcome.mendings().filter(|_| args.fix).map(|mending| mending.fixes).sum();
    let mut report = json!({
        "checked": outcome.skills.len() + outcome.agents.len(),
        "errors": outcome.count(Severity::Error),
        "warnings": outcome.count(Severity::Warning),
        "infos": outcome.count(Severity::Info),
        "allowed": outcome.allowed,
        "fixable": outcome.fixable(),
        "fixed": fixed,
        "diagnostics": outcome.findings().map(finding).collect::<Vec<_>>(),
    });
    if !args.profiles.is_empty() {
        report["portability"] = outcome.skills.iter().filter_map(Judged::portability).collect();
    }
    if args.diff {
        let patch = |mending: &Mending| Diff::new(&mending.shown, &mending.before, &mending.after).patch();
        report["diffs"] = outcome.mendings().map(patch).collect();
    }
    output.json(&report)
}
