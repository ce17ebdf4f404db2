//! The bench on which values are rewritten.

use super::rewrite::{Rewrite, rewrites};
use crate::line::{Line, lines};
use crate::repair::budget::Budget;
use crate::yaml::{Entry, Kind, YamlError, YamlErrorKind};
use metier_diagnostic::{Edit, Span};

/// How many lines are worked on. A real frontmatter has a hundred at the most, and one with more values than these
/// lines would be refused.
const MAX_LINES: usize = 2_000;
/// How far above a failing line the value that it belongs to may begin.
const MAX_LOOK_BACK: usize = 40;

/// What a parse of the lines as they are now gave.
pub(super) enum Attempt {
    Mapping(Vec<Entry<'static>>),
    Failed(YamlError, Place),
    GaveUp,
}

/// Where the parser failed: the number of the line and the byte in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    line: usize,
    byte: usize,
}

/// The lines as they are now beside the lines as they were.
pub(super) struct Bench<'a> {
    text: &'a str,
    originals: Vec<Line<'a>>,
    current: Vec<String>,
}

impl<'a> Bench<'a> {
    /// Lays the lines out; `None` when there are too many.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        let originals: Vec<Line<'a>> = lines(text, 0).take(MAX_LINES + 1).collect();
        if originals.len() > MAX_LINES {
            return None;
        }
        let current = originals.iter().map(|line| line.text.to_owned()).collect();
        Some(Self { text, originals, current })
    }

    pub(super) fn parse(&self, budget: &mut Budget) -> Attempt {
        let mut text = String::with_capacity(self.text.len() + 16);
        for (line, current) in self.originals.iter().zip(&self.current) {
            text.push_str(current);
            text.push_str(&self.text[line.end()..line.next]);
        }
        match budget.parse(&text) {
            Some(Ok(Some(tree))) => match tree.into_owned().kind {
                Kind::Mapping(entries) => Attempt::Mapping(entries),
                Kind::Scalar { .. } | Kind::Sequence(_) => Attempt::GaveUp,
            },
            None | Some(Ok(None)) => Attempt::GaveUp,
            Some(Err(error)) => {
                let before = &text[..text.floor_char_boundary(error.at.min(text.len()))];
                let line = before.matches('\n').count().min(self.current.len().saturating_sub(1));
                let byte = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
                Attempt::Failed(error, Place { line, byte })
            }
        }
    }

    /// Finds the rewrite that gets the parser past `failing`, applies it, and gives it back with what comes next.
    pub(super) fn improve(&mut self, failing: Place, budget: &mut Budget) -> Option<(Rewrite, Attempt)> {
        let first = failing.line.saturating_sub(MAX_LOOK_BACK);
        for candidate in (first..=failing.line).rev() {
            let mut best: Option<(Place, Rewrite, Attempt)> = None;
            for rewrite in rewrites(&self.current, candidate, failing.line) {
                budget.pay_for_lines(rewrite.lines.len());
                let before = self.swap(rewrite.lines.clone());
                let attempt = self.parse(budget);
                let reached = match &attempt {
                    // Tags and limits must come to light, so reaching one of them counts as getting past.
                    Attempt::Failed(error, _) if error.kind != YamlErrorKind::Syntax => None,
                    Attempt::Mapping(_) => None,
                    Attempt::Failed(_, place) => Some(*place),
                    Attempt::GaveUp => return None,
                };
                let Some(reached) = reached else { return Some((rewrite, attempt)) };
                self.swap(before);
                // On a line that was rewritten, bytes before and after cannot be compared.
                let is_past = reached.line > failing.line || (candidate < failing.line && reached > failing);
                if is_past && best.as_ref().is_none_or(|(furthest, ..)| reached > *furthest) {
                    best = Some((reached, rewrite, attempt));
                }
            }
            if let Some((_, rewrite, attempt)) = best {
                self.swap(rewrite.lines.clone());
                return Some((rewrite, attempt));
            }
            // The value that a failing line belongs to begins at the nearest top-level key at the latest.
            let is_top_key = self.originals.get(candidate).is_some_and(|line| line.top_key().is_some());
            if is_top_key && candidate < failing.line {
                break;
            }
        }
        None
    }

    /// Puts lines in place of those with the same numbers, and gives those back.
    fn swap(&mut self, lines: Vec<(usize, String)>) -> Vec<(usize, String)> {
        let replace = |(number, text)| (number, std::mem::replace(&mut self.current[number], text));
        lines.into_iter().map(replace).collect()
    }

    /// What changed, as edits of the clean text, each as small as the change.
    pub(super) fn edits(&self) -> Vec<Edit> {
        (0..self.originals.len()).filter_map(|number| self.edit(number)).collect()
    }

    /// The change of one line without what is equal at both ends.
    pub(super) fn edit(&self, number: usize) -> Option<Edit> {
        let (line, current) = (&self.originals[number], &self.current[number]);
        if line.text == current {
            return None;
        }
        let same = |(a, b): &(char, char)| a == b;
        let length = |(c, _): (char, char)| c.len_utf8();
        let prefix: usize = line.text.chars().zip(current.chars()).take_while(same).map(length).sum();
        let (old, new) = (&line.text[prefix..], &current[prefix..]);
        let suffix: usize = old.chars().rev().zip(new.chars().rev()).take_while(same).map(length).sum();
        let start = line.start + prefix;
        Some(Edit::replace(start, start + old.len() - suffix, &new[..new.len() - suffix]))
    }

    /// Where a line stands in the clean text.
    pub(super) fn span(&self, number: usize) -> Span {
        let line = &self.originals[number];
        Span::new(line.start, line.end())
    }
}
