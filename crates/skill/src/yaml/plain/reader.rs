//! Lines of a frontmatter for the fast path.

use crate::line::line_break;

/// A line taken apart.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    /// Byte offset of the first character after the indent.
    pub(super) start: usize,
    pub(super) indent: usize,
    /// The text after the indent, trailing blanks kept, the line break not.
    pub(super) text: &'a str,
    /// Where the next line begins.
    next: usize,
}

/// Reads lines one after the other. Each is taken apart once, however often it is looked at.
pub(super) struct Reader<'a> {
    text: &'a str,
    next: Option<Line<'a>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, next: line_at(text, 0) }
    }

    /// The next line, whatever it is.
    pub(super) fn next_line(&self) -> Option<Line<'a>> {
        self.next
    }

    /// The next line that says something; blank lines and comments before it are passed over.
    pub(super) fn peek(&mut self) -> Option<Line<'a>> {
        loop {
            let line = self.next?;
            if !line.text.is_empty() && !line.text.starts_with('#') {
                return Some(line);
            }
            self.advance(&line);
        }
    }

    /// Goes to what follows a line.
    pub(super) fn advance(&mut self, line: &Line<'a>) {
        self.next = line_at(self.text, line.next);
    }

    /// Whether the last line is not ended by a line break and everything is read.
    pub(super) fn ends_without_line_break(&self) -> bool {
        self.next.is_none() && !self.text.ends_with('\n')
    }
}

fn line_at(text: &str, at: usize) -> Option<Line<'_>> {
    let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
    let (end, next) = match line_break(rest.as_bytes()) {
        Some(end) => (end, at + end + 1),
        None => (rest.len(), text.len()),
    };
    let raw = &rest[..end];
    let raw = raw.strip_suffix('\r').unwrap_or(raw);
    let indent = raw.bytes().take_while(|byte| *byte == b' ').count();
    Some(Line { start: at + indent, indent, text: &raw[indent..], next })
}
