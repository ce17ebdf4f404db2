//! Where the frontmatter ends and the body begins, by the exact rules. What is not exact is [`crate::repair`]'s.

use std::ops::Range;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// What the first line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// `---`: the frontmatter begins at this byte.
    Fence(usize),
    /// `---js` and the like: another language would be evaluated.
    Engine(usize),
    /// Anything else.
    None,
}

/// The parts of a file with exact delimiters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// The bytes between the delimiter lines.
    pub(crate) yaml: Range<usize>,
    /// Where the body begins.
    pub(crate) body: usize,
}

/// Judges the first line. A byte order mark before it and blanks behind it are fine.
pub(crate) fn opening(bytes: &[u8]) -> Opening {
    let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let Some(rest) = bytes[start..].strip_prefix(b"---") else { return Opening::None };
    let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let after = rest[..length].trim_ascii();
    let next = start + 3 + (length + 1).min(rest.len());
    if after.is_empty() {
        return Opening::Fence(next);
    }
    let is_word = after.iter().all(u8::is_ascii_alphanumeric);
    // gray-matter and its kin choose an evaluator by this word. YAML's own names only repeat the default.
    if is_word && !matches!(after, b"yaml" | b"yml") { Opening::Engine(start + 3) } else { Opening::None }
}

/// Finds the closing line after an opening one: exactly `---` or `...`. A `---` inside a longer line does not close.
pub(crate) fn close(bytes: &[u8], from: usize) -> Option<Split> {
    let mut line = from;
    while line <= bytes.len() {
        let rest = &bytes[line..];
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        if matches!(rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]), b"---" | b"...") {
            return Some(Split { yaml: from..line, body: line + (length + 1).min(rest.len()) });
        }
        line += length + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<(&str, &str)>) {
        let split = match opening(text.as_bytes()) {
            Opening::Fence(from) => close(text.as_bytes(), from),
            Opening::Engine(_) | Opening::None => None,
        };
        assert_eq!(split.map(|split| (&text[split.yaml], &text[split.body..])), expect, "{text:?}");
    }

    #[test]
    fn exact_delimiters_split() {
        check("---\na: b\n---\nbody\n", Some(("a: b\n", "body\n")));
        check("---\na: b\n...\nbody", Some(("a: b\n", "body")));
        check("\u{feff}--- \t\r\na: b\r\n---\r\nbody", Some(("a: b\r\n", "body")));
        check("---\na: b\n---", Some(("a: b\n", "")));
        check("---\n---\n", Some(("", "")));
        check("---\na: x --- y\n  ---\n---\n", Some(("a: x --- y\n  ---\n", "")));
    }

    #[test]
    fn anything_else_does_not() {
        check("", None);
        check("---", None);
        check("---\na: b\n", None);
        check("---\na: b\n----\n", None);
        check(" ---\na: b\n---\n", None);
        check("# x\n---\na: b\n---\n", None);
    }

    #[test]
    fn another_language_is_seen_and_yaml_is_not_one() {
        assert_eq!(opening(b"---js\n"), Opening::Engine(3));
        assert_eq!(opening(b"--- json\r\n"), Opening::Engine(3));
        assert_eq!(opening(b"---toml"), Opening::Engine(3));
        assert_eq!(opening(b"---yaml\n"), Opening::None);
        assert_eq!(opening(b"----\n"), Opening::None);
    }
}
