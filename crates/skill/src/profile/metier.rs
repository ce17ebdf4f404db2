//! metier itself: everything loads that parses, and every key it knows means what it means.

use super::FileView;
use super::opinion::{Bench, Opinion, Refusal};
use crate::code;
use crate::manifest::is_known_key;
use metier_diagnostic::Span;

#[expect(clippy::unnecessary_wraps, reason = "other clients refuse files, and all stand in one table")]
pub(super) fn judge(bench: &mut Bench, file: &FileView<'_>) -> Result<(), Refusal> {
    for entry in file.entries() {
        let opinion = if is_known_key(&entry.key) { Opinion::same() } else { Opinion::ignored() };
        bench.key(&entry, opinion);
    }
    if file.parsed.document.is_none() {
        let reason = file.parsed.diagnostics.iter().find(|found| code::REFUSALS.contains(&found.code));
        let span = reason.and_then(|found| found.place).map_or(Span::empty(0), |place| place.span);
        let words =
            reason.map_or_else(|| "the file gives no skill".to_owned(), |found| found.message.clone());
        bench.note(span, Opinion::refused(words));
    }
    Ok(())
}
