//! Where in a text something is: bytes for machines, lines and columns for people.

use std::ops::Range;

/// A range of bytes in a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from two byte offsets. Offsets beyond 4 GiB saturate; no text that large is ever read.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: clamp(start), end: clamp(end.max(start)) }
    }

    /// A place between two bytes.
    pub fn empty(at: usize) -> Self {
        Self::new(at, at)
    }

    /// The span as a range of `usize`, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The text under the span, or nothing when the span is not of this text.
    pub fn of(self, source: &str) -> &str {
        source.get(self.range()).unwrap_or_default()
    }

    /// Whether a byte offset lies inside.
    pub fn contains(self, offset: usize) -> bool {
        self.range().contains(&offset)
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

/// A line and a column, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Position {
    /// The position of a byte offset. An offset inside a character counts as its beginning, one past the end as the end.
    pub fn of(source: &str, offset: usize) -> Self {
        let mut offset = offset.min(source.len());
        while !source.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &source[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        // A byte order mark is invisible in every editor, so it takes no column.
        let on_line = before[line_start..].trim_start_matches('\u{feff}');
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            line: count(before.bytes().filter(|byte| *byte == b'\n').count() + 1),
            column: count(on_line.chars().count() + 1),
        }
    }
}

/// A span together with its position, so that a diagnostic can be shown without the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The bytes.
    pub span: Span,
    /// The line and column of the first one.
    pub position: Position,
}

impl Place {
    /// The place of a span in its source.
    pub fn of(span: Span, source: &str) -> Self {
        Self { span, position: Position::of(source, span.start as usize) }
    }

    /// The position one past the last byte, in the same source. It is never before the first, even where the source
    /// is another one by now.
    pub fn end(self, source: &str) -> Position {
        Position::of(source, self.span.end as usize).max(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, offset: usize, line: u32, column: u32) {
        assert_eq!(Position::of(source, offset), Position { line, column }, "{source:?} at {offset}");
    }

    #[test]
    fn lines_and_columns_count_from_one_and_columns_count_characters() {
        check("", 0, 1, 1);
        check("ab\ncd", 4, 2, 2);
        check("äö: x", 4, 1, 3);
        check("a\n", 2, 2, 1);
        check("\u{feff}---", 3, 1, 1);
    }

    #[test]
    fn an_offset_outside_or_inside_a_character_is_moved_to_a_real_place() {
        check("ä", 1, 1, 1);
        check("ab", 99, 1, 3);
    }

    #[test]
    fn a_place_ends_behind_its_last_character_and_never_before_its_first() {
        let source = "äb\ncd";
        assert_eq!(Place::of(Span::new(0, 3), source).end(source), Position { line: 1, column: 3 });
        assert_eq!(Place::of(Span::new(0, 4), source).end(source), Position { line: 2, column: 1 });
        assert_eq!(Place::of(Span::new(5, 6), source).end(""), Position { line: 2, column: 2 });
    }
}
