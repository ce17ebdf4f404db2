//! Lines and columns of places that come in the order of the file, mostly.

use crate::line::line_break;
use metier_diagnostic::{Code, Diagnostic, Place, Position, Span};

/// Measures where things are in a text. It counts on from the last place, so that a file with many odd keys is counted
/// through once and not once for each of them.
pub(crate) struct Ruler<'s> {
    source: &'s str,
    /// Where the line of the last place begins, and its number.
    line_start: usize,
    line: u32,
}

impl<'s> Ruler<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self { source, line_start: 0, line: 1 }
    }

    pub(crate) fn source(&self) -> &'s str {
        self.source
    }

    /// A diagnostic of what is at a span.
    pub(crate) fn diagnostic(
        &mut self,
        code: &'static Code,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        let mut found = Diagnostic::new(code, message);
        found.place = Some(self.place(span));
        found
    }

    /// The same as [`Place::of`].
    fn place(&mut self, span: Span) -> Place {
        let offset = self.source.floor_char_boundary(span.start as usize);
        if offset < self.line_start {
            (self.line_start, self.line) = (0, 1);
        }
        while let Some(length) = line_break(&self.source.as_bytes()[self.line_start..offset]) {
            self.line_start += length + 1;
            self.line = self.line.saturating_add(1);
        }
        // The column is that of a text of one line.
        let column = Position::of(&self.source[self.line_start..offset], offset - self.line_start).column;
        Place { span, position: Position { line: self.line, column } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_the_same_in_every_order() {
        let sources = ["", "a", "\u{feff}---\nä: ö\n\nb: c\n", "a\r\n\r\nö\n", "\n\n\n", "ä\n\u{feff}b"];
        for source in sources {
            let offsets = || 0..source.len() + 3;
            let orders: [Vec<usize>; 3] = [
                offsets().collect(),
                offsets().rev().collect(),
                offsets().flat_map(|at| [at, source.len() - at.min(source.len())]).collect(),
            ];
            for order in orders {
                let mut ruler = Ruler::new(source);
                for at in order {
                    let span = Span::new(at, at + 1);
                    assert_eq!(ruler.place(span), Place::of(span, source), "{source:?} at {at}");
                }
            }
        }
    }
}
