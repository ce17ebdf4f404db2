//! The bench on which values are rewritten: the lines as they are now beside the lines as they were.

use super::rewrite::{Rewrite, rewrites};
use crate::line::{Line, lines};
use crate::repair::budget::Budget;
use crate::yaml::{Entry, Kind, YamlError, YamlErrorKind};
use metier_diagnostic::{Edit, Span};

/// How far above a failing line the value that it belongs to may begin.
const MAX_LOOK_BACK: usize = 40;

pub(super) enum Attempt {
    Mapping(Vec<Entry<'static>>),
    /// With the number of the line that fails.
    Failed(YamlError, usize),
    GaveUp,
}

pub(super) struct Bench<'a> {
    text: &'a str,
    originals: Vec<Line<'a>>,
    current: Vec<String>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let originals: Vec<Line<'a>> = lines(text, 0).collect();
        let current = originals.iter().map(|line| line.text.to_owned()).collect();
        Self { text, originals, current }
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
                let before = &text[..floor(&text, error.at)];
                let line = before.matches('\n').count();
                Attempt::Failed(error, line.min(self.current.len().saturating_sub(1)))
            }
        }
    }

    /// Finds a rewrite that lets the parser get past `failing`, applies it, and gives it back with what comes next.
    pub(super) fn improve(&mut self, failing: usize, budget: &mut Budget) -> Option<(Rewrite, Attempt)> {
        let first = failing.saturating_sub(MAX_LOOK_BACK);
        for candidate in (first..=failing).rev() {
            for rewrite in rewrites(&self.current, candidate, failing) {
                let before: Vec<(usize, String)> =
                    rewrite.lines.iter().map(|(line, _)| (*line, self.current[*line].clone())).collect();
                for (line, text) in &rewrite.lines {
                    self.current[*line].clone_from(text);
                }
                match self.parse(budget) {
                    attempt @ Attempt::Mapping(_) => return Some((rewrite, attempt)),
                    // Tags and limits must come to light, so reaching one of them counts as getting past.
                    Attempt::Failed(error, line) if line > failing || error.kind != YamlErrorKind::Syntax => {
                        return Some((rewrite, Attempt::Failed(error, line)));
                    }
                    Attempt::Failed(..) => {}
                    Attempt::GaveUp => return None,
                }
                for (line, text) in before {
                    self.current[line] = text;
                }
            }
            // The value that a failing line belongs to begins at the nearest top-level key at the latest.
            let is_top_key = self.originals.get(candidate).is_some_and(|line| line.top_key().is_some());
            if is_top_key && candidate < failing {
                break;
            }
        }
        None
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

/// The nearest character boundary at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}
