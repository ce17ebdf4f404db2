//! Edits of a frontmatter that touch nothing else: the write path of fixes and of `new`.
//!
//! An edit is computed on the exact bytes, applied to a copy, parsed again, and given out only when every other key
//! still reads the same and the edited one reads as asked. So a file in a shape nobody thought of is refused, not
//! damaged.

use crate::split;
use crate::yaml::{self, Entry, Kind, Node, Style};
use metier_diagnostic::{Edit, Span, apply};
use std::fmt;

/// Why a frontmatter cannot be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// It needs repair first; the diagnostics of parsing offer the fixes.
    NotStrict,
    /// The key stands in a form that cannot be changed without touching something else.
    NotSeparable,
    /// The key or the value cannot be written in a frontmatter.
    NotWritable,
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotStrict => "the frontmatter is not strict YAML between `---` lines; mend that first",
            Self::NotSeparable => "the key cannot be changed without touching something else",
            Self::NotWritable => "the key or the value cannot be written in a frontmatter",
        })
    }
}

impl std::error::Error for EditError {}

/// The edits that give `key` the text `value`, in place where it stands, else as a new last line.
pub fn set_text(source: &str, key: &str, value: &str) -> Result<Vec<Edit>, EditError> {
    if !is_simple_key(key) || value.contains('\0') {
        return Err(EditError::NotWritable);
    }
    let before = Frontmatter::of(source)?;
    let written = scalar(value);
    let newline = if source.contains("\r\n") { "\r\n" } else { "\n" };
    let edit = match (&before, before.as_ref().and_then(|found| found.entry(key))) {
        (Some(found), Some(entry)) => {
            let colon = found.colon_of(source, entry)?;
            let end = (entry.value.span.end as usize).max(colon + 1);
            Edit::replace(colon + 1, end, format!(" {written}"))
        }
        (Some(found), None) => {
            let at = found.end;
            let needs_break = at > found.start && !source[..at].ends_with('\n');
            Edit::insert(at, format!("{}{key}: {written}{newline}", if needs_break { newline } else { "" }))
        }
        (None, _) => {
            let at = source.len() - source.strip_prefix('\u{feff}').unwrap_or(source).len();
            Edit::insert(at, format!("---{newline}{key}: {written}{newline}---{newline}"))
        }
    };
    checked(source, before.as_ref(), vec![edit], key, value)
}

/// A text as YAML: plain where that reads back as the same text, else in double quotes.
pub fn scalar(value: &str) -> String {
    let plain = format!("k: {value}\n");
    let reads_back = match yaml::parse_fully(&plain, 0) {
        Ok(Some(tree)) => tree.get("k").is_some_and(|node| {
            let is_same = matches!(&node.kind, Kind::Scalar { text, style: Style::Plain } if text == value);
            is_same && node.is_text() && tree.entries().map(<[_]>::len) == Some(1)
        }),
        Ok(None) | Err(_) => false,
    };
    // A plain scalar that begins like a delimiter or continues over lines would only read back by luck.
    if reads_back && !value.contains(['\n', '\r']) { value.to_owned() } else { double_quoted(value) }
}

fn double_quoted(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len() + 2);
    quoted.push('"');
    for c in value.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
            {
                quoted.extend(format!("\\u{:04x}", u32::from(c)).chars());
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Keys that need no quotes and mean nothing else.
fn is_simple_key(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= 64
        && key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// A frontmatter in strict form.
struct Frontmatter {
    start: usize,
    end: usize,
    entries: Vec<Entry<'static>>,
}

impl Frontmatter {
    /// `None` when the file has none.
    fn of(source: &str) -> Result<Option<Self>, EditError> {
        let Some(from) = split::opening(source.as_bytes()) else {
            // Something that could be meant as frontmatter must be mended first, or there would be two of them.
            return if crate::repair::seems_intended(source) { Err(EditError::NotStrict) } else { Ok(None) };
        };
        let split = split::close(source.as_bytes(), from).ok_or(EditError::NotStrict)?;
        if split.yaml.len() > yaml::MAX_BYTES {
            return Err(EditError::NotStrict);
        }
        let entries = match yaml::parse(&source[split.yaml.clone()], split.yaml.start) {
            Ok(None) => Vec::new(),
            Ok(Some(Node { kind: Kind::Mapping(entries), .. })) => {
                entries.into_iter().map(Entry::into_owned).collect()
            }
            Ok(Some(_)) | Err(_) => return Err(EditError::NotStrict),
        };
        Ok(Some(Self { start: split.yaml.start, end: split.yaml.end, entries }))
    }

    fn entry(&self, key: &str) -> Option<&Entry<'static>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The colon behind a key that begins its line; other forms of writing a key are not edited.
    fn colon_of(&self, source: &str, entry: &Entry<'_>) -> Result<usize, EditError> {
        let start = entry.key_span.start as usize;
        let begins_line = start == self.start || source[..start].ends_with('\n');
        let after = &source[entry.key_span.end as usize..self.end];
        let blanks = after.len() - after.trim_start_matches(' ').len();
        if begins_line && after[blanks..].starts_with(':') {
            Ok(entry.key_span.end as usize + blanks)
        } else {
            Err(EditError::NotSeparable)
        }
    }
}

/// Gives an edit out only when it did what was asked and nothing else.
fn checked(
    source: &str,
    before: Option<&Frontmatter>,
    edits: Vec<Edit>,
    key: &str,
    value: &str,
) -> Result<Vec<Edit>, EditError> {
    let result = apply(source, &edits);
    let after = Frontmatter::of(&result).ok().flatten().ok_or(EditError::NotSeparable)?;
    let body = |text: &str| match split::opening(text.as_bytes()) {
        Some(from) => split::close(text.as_bytes(), from).map_or(0, |split| split.body),
        None => text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len(),
    };
    let reads_as_asked = after.entry(key).and_then(|entry| entry.value.text()) == Some(value);
    // The places differ before and after.
    let others = |entries: &[Entry<'static>]| -> Vec<Entry<'static>> {
        let mut first_seen = false;
        let kept = entries.iter().filter(|entry| {
            // Where the key stands again, the first one counts and is changed.
            let is_edited = entry.key == key && !first_seen;
            first_seen |= entry.key == key;
            !is_edited
        });
        let placeless = kept.cloned().map(|mut entry| {
            entry.key_span = Span::default();
            entry.value.map_spans(&|_| Span::default());
            entry
        });
        placeless.collect()
    };
    let kept = others(before.map_or(&[], |found| &found.entries)) == others(&after.entries);
    let same_body = source[body(source)..] == result[body(&result)..];
    if reads_as_asked && kept && same_body { Ok(edits) } else { Err(EditError::NotSeparable) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, key: &str, value: &str, expect: &str) {
        assert_eq!(apply(source, &set_text(source, key, value).unwrap()), expect, "{source:?}");
    }

    #[test]
    fn only_the_named_value_changes() {
        check("---\nname: a # c\nb:  x\n---\nbody", "name", "z", "---\nname: z # c\nb:  x\n---\nbody");
        check(
            "---\nd: >-\n  long\n  text\n\n# c\ne: f\n---\n",
            "d",
            "short: x",
            "---\nd: \"short: x\"\n\n# c\ne: f\n---\n",
        );
        check("---\nm:\n  a: b\n  c: [1]\ne: f\n---\n", "m", "t", "---\nm: t\ne: f\n---\n");
        check("---\nname:\nb: c\n---\n", "name", "x", "---\nname: x\nb: c\n---\n");
    }

    #[test]
    fn a_new_key_goes_last_and_keeps_the_line_ends() {
        check("---\r\na: b\r\n---\r\nbody\r\n", "v", "1.10", "---\r\na: b\r\nv: \"1.10\"\r\n---\r\nbody\r\n");
        check("# Title\n", "name", "x", "---\nname: x\n---\n# Title\n");
        check("---\n---\n", "name", "x", "---\nname: x\n---\n");
    }

    #[test]
    fn texts_are_quoted_when_plain_would_read_as_something_else() {
        for (value, written) in [
            ("plain text", "plain text"),
            ("true", "\"true\""),
            ("1.10", "\"1.10\""),
            ("", "\"\""),
            ("a: b", "\"a: b\""),
            ("a #b", "\"a #b\""),
            ("@x", "\"@x\""),
            (" x", "\" x\""),
            ("a\nb", "\"a\\nb\""),
            ("it's", "it's"),
            ("- x", "\"- x\""),
            ("\u{1b}[0m", "\"\\u001b[0m\""),
            ("日本", "日本"),
            ("\u{ffff}", "\"\\uffff\""),
            ("\"q\"", "\"\\\"q\\\"\""),
        ] {
            assert_eq!(scalar(value), written);
        }
    }

    #[test]
    fn what_is_not_strict_is_not_touched() {
        for source in [
            "---\na: b: c\n---\n",
            "---\na: b\n",
            "---js\n---\n",
            "---\n- a\n---\n",
            "name: x\ndescription: y\n\nbody",
            "\n---\nname: a\n---\n",
        ] {
            assert_eq!(set_text(source, "name", "x"), Err(EditError::NotStrict), "{source:?}");
        }
        assert_eq!(set_text("---\n{a: b}\n---\n", "a", "x"), Err(EditError::NotSeparable));
        assert_eq!(set_text("---\na: &x b\nc: *x\n---\n", "a", "z"), Err(EditError::NotSeparable));
    }

    #[test]
    fn an_empty_block_ends_before_the_next_key() {
        check("---\na: >\nb: c\n---\n", "a", "x", "---\na: x\nb: c\n---\n");
    }
}
