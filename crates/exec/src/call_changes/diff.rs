//! The changed lines of a question about changes.

use metier_changes::{NoTextError, TextChange, text_of};
use metier_diagnostic::Diff;
use metier_policy::{Deed, UndecidedChanges};

use super::PendingChanges;

/// The most lines of diffs in one question: more is not read at a prompt. `metier changes show --diff` has all of them.
const MAX_DIFF_LINES: usize = 1000;

impl PendingChanges {
    /// Adds the changed lines to what is asked. Files after the limit have none.
    pub(super) fn add_diffs(&self, undecided: &mut UndecidedChanges) {
        let Deed::Changes(changes) = &mut undecided.action.deed else { return };
        let mut lines = 0;
        for (change, index) in changes.iter_mut().zip(&undecided.paths) {
            if lines >= MAX_DIFF_LINES {
                return;
            }
            let found = self.asked.get(*index).and_then(|(index, _)| self.set.entries.get(*index));
            change.diff = found.and_then(|found| match text_of(&self.layer.layer, found) {
                Ok(TextChange { before, after }) => {
                    Some(Diff::new(found.path.as_path(), &before, &after).patch())
                }
                Err(NoTextError::NotAFile) => None,
                Err(error) => Some(format!("{}: no diff, {error}\n", found.path)),
            });
            if let Some(diff) = &mut change.diff {
                *diff = first_lines(&self.redactor.text(diff), MAX_DIFF_LINES - lines);
                lines += diff.lines().count();
            }
        }
    }
}

/// The first lines of a diff, with a word about the others.
fn first_lines(diff: &str, most: usize) -> String {
    let more = diff.lines().count().saturating_sub(most);
    if more == 0 {
        return diff.to_owned();
    }
    let mut shown: String = diff.split_inclusive('\n').take(most).collect();
    shown.push_str(&format!("({more} more lines)\n"));
    shown
}
