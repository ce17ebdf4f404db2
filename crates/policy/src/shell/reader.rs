//! A place in a line that only moves forward, by whole characters.

use super::refusal::{Refusal, RefusalKind};
use std::ops::Range;

#[derive(Clone)]
pub(super) struct Reader<'a> {
    pub(super) source: &'a str,
    /// Always at the first byte of a character, or at the end.
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes the next character.
    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes `expected` if it comes next.
    pub(super) fn take(&mut self, expected: &str) -> bool {
        let comes = self.rest().starts_with(expected);
        if comes {
            self.at += expected.len();
        }
        comes
    }

    /// Passes what separates words. The shell knows two blanks.
    pub(super) fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    pub(super) fn refuse(&self, kind: RefusalKind, span: Range<usize>) -> Refusal {
        Refusal::new(kind, self.source, span)
    }

    /// Refuses what stands from `start` to here.
    pub(super) fn refuse_from(&self, kind: RefusalKind, start: usize) -> Refusal {
        self.refuse(kind, start..self.at)
    }

    /// Refuses the next character.
    pub(super) fn refuse_next(&self, kind: RefusalKind) -> Refusal {
        self.refuse(kind, self.at..self.at + self.peek().map_or(0, char::len_utf8))
    }
}
