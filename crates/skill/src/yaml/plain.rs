//! The fast path: frontmatter as nearly everybody writes it, read line by line without a tokenizer.
//!
//! It knows block mappings, block lists of scalars, scalars (plain or quoted, over one or more lines,
//! without escapes), simple flow lists and simple `>` and `|` blocks. It **declines** (`None`) whatever it is not sure
//! of: tabs, odd characters, escapes, anchors, tags, comments behind values, wrong indentation. Declining costs time;
//! being wrong would cost meaning. So each rule here is narrower than YAML's.

mod reader;
mod survey;

use super::{Entry, Kind, Node, Style};
use metier_diagnostic::Span;
use reader::Reader;
use std::borrow::Cow;
use survey::{Survey, has_any};

/// More nesting than this is left to the full parser, which knows the limits.
const MAX_DEPTH: usize = 8;
/// More nodes than this are left to the full parser, which knows the limits.
const MAX_NODES: usize = 1_000;

pub(super) fn parse(text: &str, base: usize) -> Option<Node<'_>> {
    if !Survey::of(text).is_plain(text) {
        return None;
    }
    let mut mapper = Mapper { reader: Reader::new(text), base, nodes: 0 };
    if mapper.reader.peek()?.indent != 0 {
        return None;
    }
    let tree = mapper.mapping(0, 0)?;
    mapper.reader.peek().is_none().then_some(tree)
}

/// Makes a tree of lines.
struct Mapper<'a> {
    reader: Reader<'a>,
    base: usize,
    nodes: usize,
}

impl<'a> Mapper<'a> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start, self.base + end)
    }

    /// Counts a node; `None` when there are too many.
    fn count(&mut self) -> Option<()> {
        self.nodes += 1;
        (self.nodes <= MAX_NODES).then_some(())
    }

    fn mapping(&mut self, indent: usize, depth: usize) -> Option<Node<'a>> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut entries: Vec<Entry<'a>> = Vec::with_capacity(8);
        while let Some(line) = self.reader.peek().filter(|line| line.indent >= indent) {
            if line.indent != indent {
                return None;
            }
            self.count()?;
            let key_length = key_length(line.text)?;
            let key = &line.text[..key_length];
            let key_span = self.span(line.start, line.start + key_length);
            let after = trim_start(&line.text[key_length + 1..]);
            let value_at = line.start + line.text.len() - after.len();
            let value = trim_end(after);
            self.reader.advance(&line);
            let value = match value.as_bytes().first() {
                None => self.nested(indent, depth, key_span)?,
                Some(b'|' | b'>') => self.block(value, indent)?,
                Some(b'[') => self.flow(value, value_at)?,
                Some(_) => self.scalar(value, value_at, indent)?,
            };
            self.count()?;
            entries.push(Entry { key: Cow::Borrowed(key), key_span, value });
        }
        let span = Span { start: entries.first()?.key_span.start, end: entries.last()?.value.span.end };
        Some(Node { span, kind: Kind::Mapping(entries) })
    }

    /// What stands below a key without a value on its line: a mapping, a list, a text, or nothing.
    fn nested(&mut self, indent: usize, depth: usize, key_span: Span) -> Option<Node<'a>> {
        if let Some(line) = self.reader.peek() {
            let is_list = line.text.starts_with("- ");
            if is_list && line.indent >= indent {
                return self.list(line.indent, indent);
            }
            if line.indent > indent {
                if key_length(line.text).is_some() {
                    return self.mapping(line.indent, depth + 1);
                }
                self.reader.advance(&line);
                return self.scalar(trim_end(line.text), line.start, indent);
            }
        }
        let span = Span { start: key_span.end, end: key_span.end };
        Some(Node { span, kind: Kind::Scalar { text: Cow::Borrowed(""), style: Style::Plain } })
    }

    /// A block list of one-line scalars. `parent` is the indent of the key it belongs to.
    fn list(&mut self, indent: usize, parent: usize) -> Option<Node<'a>> {
        let mut items: Vec<Node<'a>> = Vec::with_capacity(4);
        while let Some(line) = self.reader.peek().filter(|line| line.indent >= indent) {
            if line.indent != indent {
                return None;
            }
            let Some(item) = line.text.strip_prefix("- ") else {
                // A list at its key's own indent ends with the next key; a deeper one only by less indent.
                if indent == parent && key_length(line.text).is_some() {
                    break;
                }
                return None;
            };
            self.count()?;
            let item = trim_start(item);
            let at = line.start + line.text.len() - item.len();
            let item = trim_end(item);
            if item.is_empty() || item.starts_with(['[', '|', '>']) {
                return None;
            }
            self.reader.advance(&line);
            let (text, style) = one_line(item)?;
            items.push(self.node(text, style, at, at + item.len()));
        }
        let span = Span { start: items.first()?.span.start, end: items.last()?.span.end };
        Some(Node { span, kind: Kind::Sequence(items) })
    }

    fn node(&self, text: &'a str, style: Style, start: usize, end: usize) -> Node<'a> {
        Node { span: self.span(start, end), kind: Kind::Scalar { text: Cow::Borrowed(text), style } }
    }

    /// A scalar that begins with `value`. A plain one goes on in the next lines as far as they are indented deeper than
    /// its key.
    fn scalar(&mut self, value: &'a str, at: usize, indent: usize) -> Option<Node<'a>> {
        if let [quote @ (b'"' | b'\''), rest @ ..] = value.as_bytes()
            && !rest.contains(quote)
        {
            return self.quoted_lines(value, *quote, at, indent);
        }
        let (text, style) = one_line(value)?;
        let mut node = self.node(text, style, at, at + value.len());
        if style != Style::Plain {
            return Some(node);
        }
        while let Some(line) = self.reader.next_line().filter(|line| line.indent > indent) {
            // A blank line would be a line break and a comment the end; neither is worth knowing here.
            if line.text.is_empty() || line.text.starts_with('#') || ends_early(line.text) {
                return None;
            }
            let text = trim_end(line.text);
            node.span = self.span(at, line.start + text.len());
            if let Kind::Scalar { text: all, .. } = &mut node.kind {
                let all = all.to_mut();
                all.push(' ');
                all.push_str(text);
            }
            self.reader.advance(&line);
        }
        Some(node)
    }

    /// A quoted text over several lines, as programs write long descriptions. It begins with `value` and ends with the
    /// first quote, which has to be the last character of its line.
    fn quoted_lines(&mut self, value: &'a str, quote: u8, at: usize, indent: usize) -> Option<Node<'a>> {
        let mut text = value[1..].to_owned();
        let style = if quote == b'"' { Style::DoubleQuoted } else { Style::SingleQuoted };
        // Escapes, and lines that are folded to something else than one blank, are left to the full parser.
        if text.is_empty() || text.contains('\\') {
            return None;
        }
        loop {
            let line = self.reader.next_line().filter(|line| line.indent > indent)?;
            let part = trim_end(line.text);
            let end = line.start + part.len();
            self.reader.advance(&line);
            text.push(' ');
            let Some(length) = part.bytes().position(|byte| byte == quote) else {
                if part.is_empty() || part.contains('\\') {
                    return None;
                }
                text.push_str(part);
                continue;
            };
            let last = &part[..length];
            if length == 0 || length + 1 < part.len() || last.contains('\\') || last.ends_with(' ') {
                return None;
            }
            text.push_str(last);
            let kind = Kind::Scalar { text: Cow::Owned(text), style };
            return Some(Node { span: self.span(at, end), kind });
        }
    }

    /// `[a, b, "c d"]` on one line.
    fn flow(&mut self, value: &'a str, at: usize) -> Option<Node<'a>> {
        let inner = value.strip_prefix('[')?.strip_suffix(']')?;
        let mut items = Vec::with_capacity(4);
        let mut offset = at + 1;
        for piece in inner.split(',') {
            self.count()?;
            let item = trim_start(piece);
            let item_at = offset + piece.len() - item.len();
            let item = trim_end(item);
            offset += piece.len() + 1;
            let (text, style) = match item.as_bytes().first()? {
                b'"' => (quoted(item, b'"')?, Style::DoubleQuoted),
                b'\'' => (quoted(item, b'\'')?, Style::SingleQuoted),
                _ => (plain_in_flow(item)?, Style::Plain),
            };
            items.push(self.node(text, style, item_at, item_at + item.len()));
        }
        Some(Node { span: self.span(at, at + value.len()), kind: Kind::Sequence(items) })
    }

    /// A `>` or `|` block whose lines all have one indent (a `|` block may go deeper).
    fn block(&mut self, header: &str, parent: usize) -> Option<Node<'a>> {
        let (style, keeps_line_break) = match header {
            "|" => (Style::Literal, true),
            "|-" => (Style::Literal, false),
            ">" => (Style::Folded, true),
            ">-" => (Style::Folded, false),
            _ => return None,
        };
        let first = self.reader.next_line()?;
        let indent = first.indent;
        if indent <= parent || first.text.is_empty() {
            return None;
        }
        let start = first.start;
        let mut end = start;
        let mut text = String::new();
        let mut blank = 0;
        while let Some(line) = self.reader.next_line() {
            if line.text.is_empty() {
                // Blanks in a blank line may or may not belong to the text.
                if line.indent > 0 {
                    return None;
                }
                blank += 1;
            } else {
                if line.indent < indent {
                    // Less indent ends the block, but only the parent's own level is a clean end.
                    if line.indent > parent {
                        return None;
                    }
                    break;
                }
                let is_deeper = line.indent > indent;
                if style == Style::Folded && (is_deeper || line.text.ends_with(' ')) {
                    return None;
                }
                match (style, blank) {
                    _ if text.is_empty() => {}
                    (Style::Folded, 0) => text.push(' '),
                    (Style::Folded, blank) => text.extend(std::iter::repeat_n('\n', blank)),
                    (_, blank) => text.extend(std::iter::repeat_n('\n', blank + 1)),
                }
                blank = 0;
                text.extend(std::iter::repeat_n(' ', line.indent - indent));
                text.push_str(line.text);
                end = line.start + trim_end(line.text).len();
            }
            self.reader.advance(&line);
        }
        if keeps_line_break {
            // A block that ends with the text and not with a line break has none to keep.
            if blank == 0 && self.reader.ends_without_line_break() {
                return None;
            }
            text.push('\n');
        }
        Some(Node { span: self.span(start, end), kind: Kind::Scalar { text: Cow::Owned(text), style } })
    }
}

fn trim_start(text: &str) -> &str {
    let blanks = text.bytes().take_while(|byte| *byte == b' ').count();
    &text[blanks..]
}

fn trim_end(text: &str) -> &str {
    let blanks = text.bytes().rev().take_while(|byte| *byte == b' ').count();
    &text[..text.len() - blanks]
}

/// The length of a plain key before its colon, when the line is `key:` or `key: …`.
fn key_length(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = bytes.iter().position(|byte| !is_key(byte))?;
    let starts_well = bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let ends_well = bytes.get(length) == Some(&b':') && matches!(bytes.get(length + 1), None | Some(b' '));
    (starts_well && ends_well && length <= 128).then_some(length)
}

/// The text of a scalar that begins and ends on its line.
fn one_line(value: &str) -> Option<(&str, Style)> {
    Some(match value.as_bytes().first()? {
        b'"' => (quoted(value, b'"')?, Style::DoubleQuoted),
        b'\'' => (quoted(value, b'\'')?, Style::SingleQuoted),
        _ => (plain(value)?, Style::Plain),
    })
}

/// The inside of a one-line quoted scalar without escapes.
fn quoted(value: &str, quote: u8) -> Option<&str> {
    let ends_well = value.len() >= 2 && value.as_bytes().last() == Some(&quote);
    let inner = value.get(1..value.len() - 1).filter(|_| ends_well)?;
    (!has_any(inner, quote, b'\\')).then_some(inner)
}

/// The first line of a plain scalar in a block: no indicator in front, nothing inside that could end it.
fn plain(value: &str) -> Option<&str> {
    let bytes = value.as_bytes();
    match bytes.first()? {
        b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%'
        | b'@' | b'`' => return None,
        b'-' | b'?' | b':' if !bytes.get(1).is_some_and(u8::is_ascii_alphanumeric) => return None,
        _ => {}
    }
    (!ends_early(value)).then_some(value)
}

/// Whether something in a plain text ends it: a colon before a blank, or a number sign behind one.
fn ends_early(text: &str) -> bool {
    let bytes = text.as_bytes();
    has_any(text, b':', b'#')
        && bytes.iter().enumerate().any(|(at, byte)| match byte {
            b':' => matches!(bytes.get(at + 1), None | Some(b' ')),
            b'#' => at > 0 && bytes[at - 1] == b' ',
            _ => false,
        })
}

/// A plain item of a flow list: letters, digits and what cannot mean anything else.
fn plain_in_flow(value: &str) -> Option<&str> {
    let is_ordinary =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b' ' | 0x80..);
    (value.as_bytes().first()?.is_ascii_alphanumeric() && value.bytes().all(is_ordinary)).then_some(value)
}
