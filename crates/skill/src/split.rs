//! Where the frontmatter ends and the body begins, by the exact rules. What is not exact is [`crate::repair`]'s.

use crate::line::line_break;
use std::ops::Range;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The parts of a file with exact delimiters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// The bytes between the delimiter lines.
    pub(crate) yaml: Range<usize>,
    /// Where the body begins.
    pub(crate) body: usize,
}

/// Where the frontmatter begins, when the first line is `---`. A byte order mark before it and blanks behind it are
/// fine.
pub(crate) fn opening(bytes: &[u8]) -> Option<usize> {
    let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let rest = bytes[start..].strip_prefix(b"---")?;
    let length = line_break(rest).unwrap_or(rest.len());
    rest[..length].trim_ascii().is_empty().then(|| start + 3 + (length + 1).min(rest.len()))
}

/// Finds the closing line after an opening one: exactly `---` or `...`. A `---` inside a longer line does not close.
pub(crate) fn close(bytes: &[u8], from: usize) -> Option<Split> {
    let mut line = from;
    loop {
        let rest = bytes.get(line..)?;
        let length = line_break(rest).unwrap_or(rest.len());
        if matches!(rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]), b"---" | b"...") {
            return Some(Split { yaml: from..line, body: line + (length + 1).min(rest.len()) });
        }
        line += length + 1;
    }
}

/// The bytes between exact delimiters and where the body begins. For fuzzing against a simpler splitter.
#[doc(hidden)]
pub fn split(bytes: &[u8]) -> Option<(Range<usize>, usize)> {
    let split = close(bytes, opening(bytes)?)?;
    Some((split.yaml, split.body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<(&str, &str)>) {
        let split = opening(text.as_bytes()).and_then(|from| close(text.as_bytes(), from));
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
        check("---js\na: b\n---\n", None);
        check("---yaml\na: b\n---\n", None);
    }
}
