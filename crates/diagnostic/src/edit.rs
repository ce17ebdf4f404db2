//! Edits of a source text: what a fix offers and what a repair does before it parses again.

use crate::Span;

/// One replacement. An empty span inserts, an empty text deletes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What goes.
    pub span: Span,
    /// What comes in its place.
    pub text: String,
}

impl Edit {
    /// Replaces the bytes `start..end`.
    pub fn replace(start: usize, end: usize, text: impl Into<String>) -> Self {
        Self { span: Span::new(start, end), text: text.into() }
    }

    /// Inserts before byte `at`.
    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(at, at, text)
    }

    /// Deletes the bytes `start..end`.
    pub fn delete(start: usize, end: usize) -> Self {
        Self::replace(start, end, "")
    }
}

/// What would mend a problem, as edits of the file it was found in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What the fix does, as an order: "quote the value".
    pub label: String,
    /// The edits, in any order, not overlapping.
    pub edits: Vec<Edit>,
}

/// A text after edits that still knows where each of its bytes came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched {
    text: String,
    /// `(offset in the new text, offset in the old text)` at each edit's end, ascending; between them both run alike.
    marks: Vec<(usize, usize)>,
    /// The old text, so that no way back ends inside a character.
    source: String,
}

impl Patched {
    /// Applies edits. Those that overlap an earlier one, or do not lie on character boundaries, are left out: a fix
    /// computed for another text must never cut a character in two.
    pub fn new(source: &str, edits: &[Edit]) -> Self {
        let mut sorted: Vec<&Edit> = edits.iter().collect();
        sorted.sort_by_key(|edit| (edit.span.start, edit.span.end));
        // Two diagnostics about one line may offer the same edit, which is made once.
        sorted.dedup();
        let mut text = String::with_capacity(source.len() + 16 * sorted.len());
        let mut marks = Vec::with_capacity(sorted.len());
        let mut done = 0;
        for edit in sorted {
            let range = edit.span.range();
            let Some(kept) = source.get(done..range.start) else { continue };
            if !source.is_char_boundary(range.end) {
                continue;
            }
            text.push_str(kept);
            marks.push((text.len(), range.start));
            text.push_str(&edit.text);
            done = range.end;
            marks.push((text.len(), done));
        }
        text.push_str(source.get(done..).unwrap_or_default());
        Self { text, marks, source: source.to_owned() }
    }

    /// The text after the edits.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a byte offset of the new text was in the old one. Inside replaced text it is the replacement's place.
    pub fn origin(&self, offset: usize) -> usize {
        let after = self.marks.partition_point(|(new, _)| *new <= offset);
        let Some((new, old)) = after.checked_sub(1).and_then(|at| self.marks.get(at)) else {
            return self.source.floor_char_boundary(offset);
        };
        let moved = old + (offset - new);
        // Within an edit's replacement the old text has no counterpart; stay inside what was replaced.
        let moved = match self.marks.get(after) {
            Some((_, next_old)) => moved.min(*next_old),
            None => moved,
        };
        self.source.floor_char_boundary(moved)
    }

    /// Where a span of the new text was in the old one.
    pub fn origin_span(&self, span: Span) -> Span {
        Span::new(self.origin(span.start as usize), self.origin(span.end as usize))
    }
}

/// The text after the edits, for those who do not need the way back.
pub fn apply(source: &str, edits: &[Edit]) -> String {
    Patched::new(source, edits).text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_applied_in_order_of_place() {
        let edits = [Edit::insert(5, "'"), Edit::insert(2, "'"), Edit::delete(0, 1)];
        assert_eq!(apply("abcdef", &edits), "b'cde'f");
    }

    #[test]
    fn an_edit_that_overlaps_or_cuts_a_character_is_left_out() {
        assert_eq!(apply("abcdef", &[Edit::delete(1, 4), Edit::delete(2, 5)]), "aef");
        assert_eq!(apply("äb", &[Edit::delete(0, 1)]), "äb");
    }

    #[test]
    fn no_way_back_ends_inside_a_character() {
        let patched = Patched::new("äöü: 🎯", &[Edit::replace(0, 6, "'aou'"), Edit::replace(8, 12, "'x'")]);
        for offset in 0..20 {
            assert!("äöü: 🎯".is_char_boundary(patched.origin(offset)), "offset {offset}");
        }
    }

    #[test]
    fn the_same_edit_is_made_once() {
        assert_eq!(apply("ab", &[Edit::insert(1, "'"), Edit::insert(0, "x"), Edit::insert(1, "'")]), "xa'b");
        assert_eq!(apply("ab", &[Edit::insert(1, "1"), Edit::insert(1, "2")]), "a12b");
    }

    #[test]
    fn every_offset_of_the_new_text_maps_back() {
        let patched = Patched::new("key: a: b\nnext", &[Edit::insert(5, "'"), Edit::insert(9, "'")]);
        assert_eq!(patched.text(), "key: 'a: b'\nnext");
        for (new, old) in [(0, 0), (4, 4), (6, 5), (9, 8), (11, 9), (12, 10), (16, 14)] {
            assert_eq!(patched.origin(new), old, "offset {new}");
        }
    }
}
