//! Ultron. Its documents name seven keys and no reason to refuse a file; what they do not say is not guessed.

use super::opinion::{Bench, Opinion, Refusal};
use super::substitution::{self, NOTHING};
use super::{FileView, loss};
use crate::code;
use crate::manifest::{Context, Manifest};
use crate::yaml::Entry;
use metier_diagnostic::Span;

/// The keys it acts on as metier does.
const ACTED_ON: [&str; 6] = ["name", "description", "model", "maxTurns", "tools", "tags"];

#[expect(clippy::unnecessary_wraps, reason = "other clients refuse files, and all stand in one table")]
pub(super) fn judge(bench: &mut Bench, file: &FileView<'_>) -> Result<(), Refusal> {
    for entry in file.entries() {
        bench.key(&entry, opinion(&entry, file.manifest()));
    }
    note_repairs(bench, file);
    substitution::judge(bench, file, &NOTHING);
    Ok(())
}

fn opinion(entry: &Entry<'_>, manifest: Option<&Manifest>) -> Opinion {
    let key: &str = &entry.key;
    if ACTED_ON.contains(&key) {
        return Opinion::same();
    }
    let is_note = manifest.is_some_and(|manifest| matches!(manifest.more.context, Context::Note(_)));
    if key == "context" && !is_note {
        return Opinion::same();
    }
    if key == "context" {
        return Opinion::lost("`context` takes `inline` or `fork`; a note there is not documented");
    }
    loss::without(entry, manifest)
}

/// Says that a file needed repair, for clients of which nobody knows what they do then.
pub(super) fn note_repairs(bench: &mut Bench, file: &FileView<'_>) {
    let needed = |code: &&metier_diagnostic::Code| {
        code::REPAIRS.contains(code)
            || *code == &code::FRONTMATTER_MISSING
            || *code == &code::FRONTMATTER_EMPTY
    };
    if let Some(found) = file.parsed.diagnostics.iter().find(|found| needed(&found.code)) {
        let span = found.place.map_or(Span::empty(0), |place| place.span);
        let reason = format!("what happens there is not documented: {}", found.message);
        let opinion = Opinion::changed(reason);
        bench.note(
            span,
            match &found.help {
                Some(help) => opinion.help(help.clone()),
                None => opinion,
            },
        );
    }
}
