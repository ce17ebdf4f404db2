//! The fast path: frontmatter as nearly everybody writes it, read line by line without a tokenizer.
//!
//! It knows block mappings, block lists of scalars, one-line scalars (plain, or quoted without escapes), simple flow
//! lists and simple `>` and `|` blocks. It **declines** (`None`) whatever it is not sure of: tabs, carriage returns,
//! odd characters, escapes, continuation lines, anchors, tags, comments behind values, wrong indentation. Declining
//! costs time; being wrong would cost meaning. So each rule here is narrower than YAML's.

use super::{Entry, Kind, Node, Style};
use metier_diagnostic::Span;
use std::borrow::Cow;

/// More nesting than this is left to the full parser, which knows the limits.
const MAX_DEPTH: usize = 8;
/// More lines than this are left to the full parser, which counts nodes.
const MAX_LINES: usize = 400;

pub(super) fn parse(text: &str, base: usize) -> Option<Node<'_>> {
    if !text.bytes().all(is_ordinary) || has_odd_character(text) {
        return None;
    }
    let mut reader = Reader { text, base, at: 0, lines: 0 };
    let first = reader.peek()?;
    if first.indent != 0 {
        return None;
    }
    let tree = reader.mapping(0, 0)?;
    reader.peek().is_none().then_some(tree).filter(|_| reader.lines <= MAX_LINES)
}

/// Printable ASCII, line feed, or part of a longer character.
fn is_ordinary(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | 0x80..)
}

/// Characters on which YAML implementations differ: C1 controls, line and paragraph separators, byte order marks,
/// non-characters. All of them begin with one of four bytes, which most texts do not contain.
fn has_odd_character(text: &str) -> bool {
    let suspicious = |byte: u8| matches!(byte, 0xc2 | 0xe2 | 0xef | 0xf0..);
    text.bytes().any(suspicious)
        && text.chars().any(|c| {
            matches!(c, '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
                || (u32::from(c) & 0xfffe) == 0xfffe
        })
}

/// A line that is neither blank nor a comment.
#[derive(Clone, Copy)]
struct Line<'a> {
    /// Byte offset of the line's first character after the indent.
    start: usize,
    indent: usize,
    /// The text after the indent, trailing spaces kept.
    text: &'a str,
    /// Where the next line begins.
    next: usize,
}

struct Reader<'a> {
    text: &'a str,
    base: usize,
    at: usize,
    lines: usize,
}

impl<'a> Reader<'a> {
    /// The raw line at an offset and the offset of the next one.
    fn raw(&self, at: usize) -> Option<(&'a str, usize)> {
        let rest = self.text.get(at..).filter(|rest| !rest.is_empty())?;
        Some(match rest.as_bytes().iter().position(|byte| *byte == b'\n') {
            Some(end) => (&rest[..end], at + end + 1),
            None => (rest, self.text.len()),
        })
    }

    /// The next line that says something; blank lines and comments before it are passed over.
    fn peek(&mut self) -> Option<Line<'a>> {
        loop {
            let (raw, next) = self.raw(self.at)?;
            let text = raw.trim_start_matches(' ');
            if !text.is_empty() && !text.starts_with('#') {
                let indent = raw.len() - text.len();
                return Some(Line { start: self.at + indent, indent, text, next });
            }
            self.at = next;
            self.lines += 1;
        }
    }

    fn advance(&mut self, line: &Line<'a>) {
        self.at = line.next;
        self.lines += 1;
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start, self.base + end)
    }

    fn mapping(&mut self, indent: usize, depth: usize) -> Option<Node<'a>> {
        if depth > MAX_DEPTH || self.lines > MAX_LINES {
            return None;
        }
        let mut entries: Vec<Entry<'a>> = Vec::with_capacity(4);
        while let Some(line) = self.peek().filter(|line| line.indent >= indent) {
            if line.indent != indent {
                return None;
            }
            let key_length = key_length(line.text)?;
            let key = &line.text[..key_length];
            let key_span = self.span(line.start, line.start + key_length);
            let after = &line.text[key_length + 1..];
            let value = after.trim_start_matches(' ');
            let value_at = line.start + line.text.len() - value.len();
            let value = value.trim_end_matches(' ');
            self.advance(&line);
            let value = if value.is_empty() {
                self.nested(indent, depth, key_span)?
            } else if value.starts_with(['|', '>']) {
                self.block(value, indent)?
            } else if value.starts_with('[') {
                self.flow(value, value_at)?
            } else {
                self.scalar(value, value_at)?
            };
            entries.push(Entry { key: Cow::Borrowed(key), key_span, value });
        }
        let span = Span { start: entries.first()?.key_span.start, end: entries.last()?.value.span.end };
        Some(Node { span, kind: Kind::Mapping(entries) })
    }

    /// What stands below a key without a value on its line: a mapping, a list, or nothing.
    fn nested(&mut self, indent: usize, depth: usize, key_span: Span) -> Option<Node<'a>> {
        let absent = Node {
            span: Span { start: key_span.end, end: key_span.end },
            kind: Kind::Scalar { text: Cow::Borrowed(""), style: Style::Plain },
        };
        let Some(line) = self.peek() else { return Some(absent) };
        let is_list = line.text.starts_with("- ");
        if line.indent > indent {
            if is_list { self.list(line.indent, indent) } else { self.mapping(line.indent, depth + 1) }
        } else if line.indent == indent && is_list {
            self.list(indent, indent)
        } else {
            Some(absent)
        }
    }

    /// A block list of one-line scalars. `parent` is the indent of the key it belongs to.
    fn list(&mut self, indent: usize, parent: usize) -> Option<Node<'a>> {
        let mut items: Vec<Node<'a>> = Vec::with_capacity(4);
        while let Some(line) = self.peek().filter(|line| line.indent >= indent) {
            if line.indent != indent || self.lines > MAX_LINES {
                return None;
            }
            let Some(item) = line.text.strip_prefix("- ") else {
                // A list at its key's own indent ends with the next key; a deeper one only by less indent.
                if indent == parent && key_length(line.text).is_some() {
                    break;
                }
                return None;
            };
            let item = item.trim_start_matches(' ');
            let at = line.start + line.text.len() - item.len();
            let item = item.trim_end_matches(' ');
            if item.is_empty() || item.starts_with(['[', '|', '>']) {
                return None;
            }
            self.advance(&line);
            items.push(self.scalar(item, at)?);
        }
        let span = Span { start: items.first()?.span.start, end: items.last()?.span.end };
        Some(Node { span, kind: Kind::Sequence(items) })
    }

    /// A scalar that begins and ends on its line; what follows must not continue it.
    fn scalar(&mut self, value: &'a str, at: usize) -> Option<Node<'a>> {
        let (text, style) = match value.as_bytes()[0] {
            b'"' => (quoted(value, b'"')?, Style::DoubleQuoted),
            b'\'' => (quoted(value, b'\'')?, Style::SingleQuoted),
            _ => (plain(value)?, Style::Plain),
        };
        let span = self.span(at, at + value.len());
        Some(Node { span, kind: Kind::Scalar { text: Cow::Borrowed(text), style } })
    }

    /// `[a, b, "c d"]` on one line.
    fn flow(&mut self, value: &'a str, at: usize) -> Option<Node<'a>> {
        let inner = value.strip_prefix('[')?.strip_suffix(']')?;
        let mut items = Vec::new();
        let mut offset = at + 1;
        for piece in inner.split(',') {
            let item = piece.trim_start_matches(' ');
            let item_at = offset + piece.len() - item.len();
            let item = item.trim_end_matches(' ');
            offset += piece.len() + 1;
            let (text, style) = match item.as_bytes().first()? {
                b'"' => (quoted(item, b'"')?, Style::DoubleQuoted),
                b'\'' => (quoted(item, b'\'')?, Style::SingleQuoted),
                _ => (plain_in_flow(item)?, Style::Plain),
            };
            let span = self.span(item_at, item_at + item.len());
            items.push(Node { span, kind: Kind::Scalar { text: Cow::Borrowed(text), style } });
        }
        Some(Node { span: self.span(at, at + value.len()), kind: Kind::Sequence(items) })
    }

    /// A `>` or `|` block whose lines all have one indent (a `|` block may go deeper).
    fn block(&mut self, header: &str, parent: usize) -> Option<Node<'a>> {
        let (style, keep_newline) = match header {
            "|" => (Style::Literal, true),
            "|-" => (Style::Literal, false),
            ">" => (Style::Folded, true),
            ">-" => (Style::Folded, false),
            _ => return None,
        };
        let (first, _) = self.raw(self.at)?;
        let indent = first.len() - first.trim_start_matches(' ').len();
        if indent <= parent || indent == first.len() {
            return None;
        }
        let start = self.at + indent;
        let mut end = start;
        let mut text = String::new();
        let mut blank = 0;
        while let Some((raw, next)) = self.raw(self.at) {
            if raw.is_empty() {
                blank += 1;
            } else {
                let line = raw.trim_start_matches(' ');
                let found = raw.len() - line.len();
                if found < indent {
                    // Less indent ends the block, but only the parent's own level is a clean end.
                    if found > parent || line.is_empty() {
                        return None;
                    }
                    break;
                }
                let deeper = found > indent;
                if line.is_empty() || (style == Style::Folded && (deeper || raw.ends_with(' '))) {
                    return None;
                }
                match (style, blank) {
                    _ if text.is_empty() => {}
                    (Style::Folded, 0) => text.push(' '),
                    (Style::Folded, blank) => text.extend(std::iter::repeat_n('\n', blank)),
                    (_, blank) => text.extend(std::iter::repeat_n('\n', blank + 1)),
                }
                blank = 0;
                text.push_str(&raw[indent..]);
                end = self.at + raw.trim_end_matches(' ').len();
            }
            self.at = next;
            self.lines += 1;
        }
        if keep_newline {
            text.push('\n');
            // A block that ends with the text and not with a line feed has none to keep.
            if blank == 0 && self.at == self.text.len() && !self.text.ends_with('\n') {
                return None;
            }
        }
        Some(Node { span: self.span(start, end), kind: Kind::Scalar { text: Cow::Owned(text), style } })
    }
}

/// The length of a plain key before its colon, when the line is `key:` or `key: …`.
fn key_length(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let length = bytes
        .iter()
        .position(|byte| !matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-'))?;
    let starts_well = bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let ends_well = bytes.get(length) == Some(&b':') && matches!(bytes.get(length + 1), None | Some(b' '));
    (starts_well && ends_well && length <= 128).then_some(length)
}

/// The inside of a one-line quoted scalar without escapes.
fn quoted(value: &str, quote: u8) -> Option<&str> {
    let inner =
        value.get(1..value.len() - 1).filter(|_| value.len() >= 2 && value.ends_with(char::from(quote)))?;
    (!inner.bytes().any(|byte| byte == quote || byte == b'\\')).then_some(inner)
}

/// A one-line plain scalar in a block: no indicator in front, nothing inside that could end it.
fn plain(value: &str) -> Option<&str> {
    let bytes = value.as_bytes();
    match bytes[0] {
        b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%'
        | b'@' | b'`' => {
            return None;
        }
        b'-' | b'?' | b':' if !bytes.get(1).is_some_and(u8::is_ascii_alphanumeric) => return None,
        _ => {}
    }
    let ends_early = bytes.iter().enumerate().any(|(at, byte)| match byte {
        b':' => matches!(bytes.get(at + 1), None | Some(b' ')),
        b'#' => at > 0 && bytes[at - 1] == b' ',
        _ => false,
    });
    (!ends_early).then_some(value)
}

/// A plain item of a flow list: letters, digits and what cannot mean anything else.
fn plain_in_flow(value: &str) -> Option<&str> {
    let ordinary =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b' ' | 0x80..);
    (value.as_bytes()[0].is_ascii_alphanumeric() && value.bytes().all(ordinary)).then_some(value)
}
