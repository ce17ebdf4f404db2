//! How one line's value is rewritten so that YAML reads what a person reads.

use crate::code;
use metier_diagnostic::Code;
use std::borrow::Cow;

/// A line taken apart: `  - key: value`.
pub(super) struct Shape<'a> {
    /// Everything before the value.
    pub(super) prefix: &'a str,
    /// The key, if there is one.
    pub(super) key: Option<&'a str>,
    /// The value without blanks around it.
    pub(super) value: &'a str,
}

impl<'a> Shape<'a> {
    /// Takes a line apart. A line without a key or a dash has everything in its value.
    pub(super) fn of(line: &'a str) -> Self {
        let body = line.trim_start_matches([' ', '\t']);
        let mut rest = body;
        while let Some(after) = rest.strip_prefix("- ") {
            rest = after.trim_start_matches(' ');
        }
        let key_length = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')));
        let key = key_length.filter(|length| *length > 0).and_then(|length| {
            let after = rest[length..].strip_prefix(':')?;
            (after.is_empty() || after.starts_with([' ', '\t'])).then_some(&rest[..length])
        });
        if let Some(key) = key {
            rest = rest[key.len() + 1..].trim_start_matches([' ', '\t']);
        }
        let value = rest.trim_end();
        Self { prefix: &line[..line.len() - rest.len()], key, value }
    }

    /// Whether the line is running text: neither a key nor a list item.
    pub(super) fn is_bare(&self) -> bool {
        self.key.is_none() && self.prefix.trim().is_empty() && !self.value.is_empty()
    }
}

/// In single quotes, where nothing but a quote means anything.
pub(super) fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// Why a value needs quotes, and the text a person reads there. `None` when quotes would not help.
pub(super) fn plain_text_of(value: &str) -> Option<(&'static Code, String)> {
    let first = value.chars().next()?;
    if matches!(first, '"' | '\'') {
        return Some(match inner_of_outer_quotes(value, first) {
            Some(inner) => (&code::INNER_QUOTES, inner),
            None if !value[1..].contains(first) => (&code::UNCLOSED_QUOTE, value[1..].trim().to_owned()),
            None => (&code::TEXT_AFTER_QUOTE, value.to_owned()),
        });
    }
    if first == '{' && value.contains(':') {
        // A mapping that is broken somewhere is no text; leaving its key out is more honest than quoting it.
        return None;
    }
    if matches!(first, '>' | '|') && without_marker(value).is_empty() {
        return None;
    }
    if is_marker_with_text(value) {
        return Some((&code::UNQUOTED_INDICATOR, without_marker(value).to_owned()));
    }
    if matches!(first, '[' | '{' | '@' | '*' | '&' | '%' | '>' | '|' | '`' | ',' | '?' | ']' | '}') {
        return Some((&code::UNQUOTED_INDICATOR, value.to_owned()));
    }
    let has_colon = value.contains(": ") || value.contains(":\t") || value.ends_with(':');
    has_colon.then(|| (&code::UNQUOTED_COLON, value.to_owned()))
}

/// `> text` or `|- text`: a block's marker with the text on the same line, where only the text is meant. Before a
/// number it is a comparison, which is text itself.
pub(super) fn is_marker_with_text(value: &str) -> bool {
    let rest = without_marker(value);
    let marker = &value[..value.len() - rest.len()];
    marker.starts_with(['>', '|'])
        && marker.ends_with([' ', '\t'])
        && !rest.starts_with(|c: char| c.is_ascii_digit())
}

/// A value without the marker of a block: `>`, `|-`, `>2`.
pub(super) fn without_marker(value: &str) -> &str {
    let Some(rest) = value.strip_prefix(['>', '|']) else { return value };
    let behind = rest.trim_start_matches(['+', '-', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    if behind.is_empty() {
        return behind;
    }
    if behind.starts_with([' ', '\t']) { behind.trim_start() } else { value }
}

/// The text between outer quotes that contains the same quotes again. In `"Use "it" now"` the second quote opens, so
/// the first one is an outer one; in `"it" and "that"` it closes, and the quotes belong to the text.
fn inner_of_outer_quotes(value: &str, quote: char) -> Option<String> {
    let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
    let second = inner.find(quote)?;
    let before = inner[..second].chars().next_back();
    let after = inner[second + quote.len_utf8()..].chars().next();
    let closes =
        before.is_some_and(|c| !c.is_whitespace()) && after.is_none_or(|c| c.is_whitespace() || c == ',');
    // An apostrophe inside a word neither opens nor closes.
    let is_apostrophe = quote == '\''
        && before.is_some_and(char::is_alphanumeric)
        && after.is_some_and(char::is_alphanumeric);
    if closes && !is_apostrophe {
        return None;
    }
    Some(if quote == '"' { inner.replace("\\\"", "\"") } else { inner.to_owned() })
}

/// The widest indent that is rewritten, in bytes. Nobody indents further, and a tab becomes eight blanks.
const MAX_INDENT: usize = 100;
/// How many widths a tab may stand for.
pub(super) const TAB_WIDTHS: usize = 3;

/// The line with other blanks than spaces in its indent as spaces, for each width a tab may stand for. A no-break
/// space, which some editors write, also stands behind colons and dashes.
pub(super) fn indents(line: &str) -> Vec<String> {
    let body = line.trim_start_matches([' ', '\t', '\u{a0}']);
    let indent = &line[..line.len() - body.len()];
    if indent.len() > MAX_INDENT {
        return Vec::new();
    }
    let is_structural =
        indent.contains(['\t', '\u{a0}']) || body.starts_with("-\u{a0}") || body.contains(":\u{a0}");
    if !is_structural {
        return Vec::new();
    }
    let body = if body.starts_with("-\u{a0}") || body.contains(":\u{a0}") {
        Cow::Owned(body.replace('\u{a0}', " "))
    } else {
        Cow::Borrowed(body)
    };
    let widths: [&str; TAB_WIDTHS] = ["  ", "    ", "        "];
    widths
        .iter()
        .map(|width| format!("{}{body}", indent.replace('\t', width).replace('\u{a0}', " ")))
        .collect()
}

/// The line with escapes that YAML knows: half a surrogate pair becomes the replacement character, a backslash that
/// escapes nothing becomes a backslash.
///
/// Who writes `\d` or `C:\Users` does not mean escapes, so on such a line `\t` and `\b` are text, too.
pub(super) fn with_known_escapes(line: &str) -> Option<String> {
    let start = line.find('"')?;
    let is_foreign = escapes(&line[start..]).any(|escape| matches!(Escape::of(escape), Escape::Foreign));
    let mut mended = line[..start].to_owned();
    let mut rest = &line[start..];
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let length = match Escape::of(escape) {
            Escape::Control(length) if is_foreign => {
                mended.push_str("\\\\");
                mended.push_str(&escape[..length]);
                length
            }
            Escape::Known(length) | Escape::Control(length) => {
                mended.push('\\');
                mended.push_str(&escape[..length]);
                length
            }
            Escape::Apostrophe => {
                mended.push('\'');
                1
            }
            Escape::Pair(c, length) => {
                mended.extend(format!("\\U{:08X}", u32::from(c)).chars());
                length
            }
            Escape::NoCharacter(length) => {
                mended.push_str("\\uFFFD");
                length
            }
            Escape::Foreign => {
                mended.push_str("\\\\");
                0
            }
        };
        rest = &escape[length..];
    }
    mended.push_str(rest);
    (mended != line).then_some(mended)
}

/// What follows each backslash of a text; the second of two is no beginning.
fn escapes(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let escape = &rest[rest.find('\\')? + 1..];
        rest = escape.strip_prefix('\\').unwrap_or(escape);
        Some(escape)
    })
}

/// What stands behind a backslash, with how many bytes it takes.
enum Escape {
    /// YAML and everybody else mean the same.
    Known(usize),
    /// YAML means a control character or an odd blank, which hardly anybody writes.
    Control(usize),
    /// `\'`, from a shell.
    Apostrophe,
    /// Two halves of a surrogate pair, from JSON.
    Pair(char, usize),
    /// A number that is no character.
    NoCharacter(usize),
    /// No escape at all.
    Foreign,
}

impl Escape {
    fn of(escape: &str) -> Self {
        let Some(c) = escape.chars().next() else { return Self::Foreign };
        let digits = match c {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            '\'' => return Self::Apostrophe,
            'n' | '"' | '\\' | '/' | ' ' | '\t' => return Self::Known(1),
            '0' | 'a' | 'b' | 't' | 'v' | 'f' | 'r' | 'e' | 'N' | '_' | 'L' | 'P' => return Self::Control(1),
            _ => return Self::Foreign,
        };
        let Some(unit) = hexadecimal(escape, digits) else { return Self::Foreign };
        if char::from_u32(unit).is_some() {
            return Self::Known(digits + 1);
        }
        let low = escape[digits + 1..].strip_prefix('\\').filter(|rest| rest.starts_with('u'));
        let low = low.and_then(|rest| hexadecimal(rest, 4)).filter(|low| (0xdc00..=0xdfff).contains(low));
        let pair = low
            .filter(|_| (0xd800..=0xdbff).contains(&unit))
            .and_then(|low| char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)));
        match pair {
            Some(c) => Self::Pair(c, digits + 1 + 6),
            None => Self::NoCharacter(digits + 1),
        }
    }
}

/// The number behind the letter of an escape.
fn hexadecimal(escape: &str, digits: usize) -> Option<u32> {
    let written = escape.get(1..=digits).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(written, 16).ok()
}

/// `[a, b` and `{"a": {"b": 1}` with their brackets closed. One word behind a bracket is text, and so is the value of
/// a key that people read.
pub(super) fn with_closed_brackets(shape: &Shape<'_>) -> Option<String> {
    let is_collection = match shape.value.chars().next()? {
        '[' => shape.value.contains(','),
        '{' => shape.value.contains(':'),
        _ => false,
    };
    let is_text = shape.key.is_none_or(|key| matches!(key, "name" | "description" | "argument-hint"));
    if is_text || !is_collection {
        return None;
    }
    let mut missing = Vec::new();
    let mut in_quotes = false;
    let mut is_escaped = false;
    for c in shape.value.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = in_quotes,
            '"' => in_quotes = !in_quotes,
            _ if in_quotes => {}
            '[' => missing.push(']'),
            '{' => missing.push('}'),
            // A bracket of the other kind closes nothing, and what is meant cannot be told.
            ']' | '}' => drop(missing.pop().filter(|open| *open == c)?),
            _ => {}
        }
    }
    if in_quotes || missing.is_empty() {
        return None;
    }
    Some(shape.value.chars().chain(missing.into_iter().rev()).collect())
}

/// `[a, @b, c: d]` with each item that needs quotes in quotes.
pub(super) fn quoted_items(value: &str) -> Option<String> {
    let inner = value.strip_prefix('[')?.strip_suffix(']')?;
    if inner.contains(['[', ']', '{', '}']) {
        return None;
    }
    let mend = |item: &str| {
        let text = item.trim();
        if text.is_empty() || is_quoted(text) { text.to_owned() } else { quoted(text) }
    };
    let items: Vec<String> = items_of(inner).into_iter().map(mend).collect();
    Some(format!("[{}]", items.join(", ")))
}

/// The items between the brackets of a list; a comma inside quotes does not separate.
fn items_of(inner: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut start = 0;
    let mut quote = None;
    for (at, c) in inner.char_indices() {
        match (c, quote) {
            (',', None) => {
                items.push(&inner[start..at]);
                start = at + 1;
            }
            ('"' | '\'', None) if inner[start..at].trim().is_empty() => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
    }
    items.push(&inner[start..]);
    items
}

fn is_quoted(text: &str) -> bool {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    ['"', '\''].iter().any(|quote| inner(*quote).is_some_and(|inner| !inner.contains(*quote)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart() {
        let shape = |line| {
            let shape = Shape::of(line);
            (shape.prefix.to_owned(), shape.key.map(str::to_owned), shape.value.to_owned())
        };
        assert_eq!(shape("key: a: b "), ("key: ".into(), Some("key".into()), "a: b".into()));
        assert_eq!(shape("  - \"x\" in y"), ("  - ".into(), None, "\"x\" in y".into()));
        assert_eq!(shape("- a: b: c"), ("- a: ".into(), Some("a".into()), "b: c".into()));
        assert_eq!(shape("key:"), ("key:".into(), Some("key".into()), String::new()));
        assert!(Shape::of("some text: here").is_bare());
    }

    #[test]
    fn the_text_is_what_a_person_reads() {
        let check = |value: &str, code: &str, text: &str| {
            let (found, read) = plain_text_of(value).unwrap();
            assert_eq!((found.name(), &*read), (code, text), "{value:?}");
        };
        check("Use when: asked", "unquoted-colon", "Use when: asked");
        check("@scope/x", "unquoted-indicator", "@scope/x");
        check("\"Use \"it\" now\"", "inner-quotes", "Use \"it\" now");
        check("'It's fine'", "inner-quotes", "It's fine");
        check("\"it\" and \"that\"", "text-after-quote", "\"it\" and \"that\"");
        check("\"a\" in message", "text-after-quote", "\"a\" in message");
        assert!(plain_text_of("plain").is_none());
        assert!(plain_text_of("{\"a\": 1").is_none());
        assert!(plain_text_of(">-").is_none());
    }

    #[test]
    fn escapes_become_ones_yaml_knows() {
        let check = |line: &str, expect: &str| {
            assert_eq!(with_known_escapes(line).as_deref(), Some(expect), "{line}");
        };
        check(r#"a: "\d+""#, r#"a: "\\d+""#);
        check(r#"a: "\U+1F4E7""#, r#"a: "\\U+1F4E7""#);
        check(r#"a: "\ud83d x""#, r#"a: "\uFFFD x""#);
        check(r#"a: "it\'s""#, r#"a: "it's""#);
        check(r#"a: "\ud83c\udfaf""#, r#"a: "\U0001F3AF""#);
        assert_eq!(with_known_escapes(r#"a: "\n\u00e4\x41""#), None);
    }
}
