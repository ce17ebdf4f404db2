//! What was found in one file, up to a number that anybody would read.

use crate::code;
use metier_diagnostic::{Diagnostic, Span};

/// How many diagnostics one file gets. A real file has a dozen at the most; thousands cost the reader more than the
/// author of a hostile file, and each needs its line and column counted.
pub(crate) const MAX_FINDINGS: usize = 100;

/// The diagnostics of one file.
#[derive(Default)]
pub(crate) struct Findings {
    list: Vec<Diagnostic>,
    left_out: usize,
}

impl Findings {
    /// Adds a diagnostic. It is made only when there is room for it.
    pub(crate) fn add(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.list.len() < MAX_FINDINGS {
            self.list.push(make());
        } else {
            self.left_out += 1;
        }
    }

    /// Adds the reason why there is no skill, which is never left out.
    pub(crate) fn refuse(&mut self, reason: Diagnostic) {
        self.list.push(reason);
    }

    /// Adds what another part of the work found.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.left_out += other.left_out;
        for found in other.list {
            if self.list.len() < MAX_FINDINGS || is_refusal(&found) {
                self.list.push(found);
            } else {
                self.left_out += 1;
            }
        }
    }

    /// How many there are, listed or not.
    pub(crate) fn count(&self) -> usize {
        self.list.len() + self.left_out
    }

    /// All of them in the order of the file, and how many are not among them.
    pub(crate) fn into_diagnostics(mut self, source: &str) -> Vec<Diagnostic> {
        self.list.sort_by_key(|found| found.place.map(|place| place.span.start));
        if self.left_out > 0 {
            let message = format!("and {} more problems, which are not listed", self.left_out);
            let more = Diagnostic::new(&code::MORE_PROBLEMS, message).at(Span::empty(source.len()), source);
            self.list.push(more.help("mend the first ones and look again"));
        }
        self.list
    }
}

/// Whether a diagnostic is the reason why there is no skill.
fn is_refusal(found: &Diagnostic) -> bool {
    code::REFUSALS.iter().any(|code| code.name() == found.code.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown() -> Diagnostic {
        Diagnostic::new(&code::UNKNOWN_KEY, "odd")
    }

    #[test]
    fn more_than_anybody_reads_is_counted_and_a_refusal_is_kept() {
        let mut findings = Findings::default();
        let mut made = 0;
        for _ in 0..MAX_FINDINGS + 7 {
            findings.add(|| {
                made += 1;
                unknown()
            });
        }
        let mut other = Findings::default();
        other.add(unknown);
        other.refuse(Diagnostic::new(&code::NAME_EMPTY, "the name is empty"));
        findings.absorb(other);
        let diagnostics = findings.into_diagnostics("x");
        assert_eq!(made, MAX_FINDINGS);
        assert_eq!(diagnostics.len(), MAX_FINDINGS + 2);
        assert!(diagnostics.iter().any(|found| found.code == &code::NAME_EMPTY));
        assert_eq!(diagnostics[MAX_FINDINGS + 1].message, "and 8 more problems, which are not listed");
    }

    #[test]
    fn diagnostics_come_in_the_order_of_the_file() {
        let mut findings = Findings::default();
        for at in [5, 1, 3] {
            findings.add(|| unknown().at(Span::empty(at), "abcdefgh"));
        }
        let columns: Vec<_> =
            findings.into_diagnostics("abcdefgh").iter().map(metier_diagnostic::Diagnostic::column).collect();
        assert_eq!(columns, [Some(2), Some(4), Some(6)]);
    }
}
