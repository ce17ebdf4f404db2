//! Text from a stranger's file, made fit to stand inside a structure of ours.

use crate::shown::one_line;
use std::fmt::Write as _;

// Each of `description` and `when_to_use` has this limit of its own, or a long description would push out the part that says
// when the skill is to be used.
pub(super) use metier_skill::MAX_DESCRIPTION;

/// Characters of an argument hint. A hint is a few words; anything longer is a description in the wrong place.
const MAX_HINT: usize = 200;

/// The description with `when_to_use` behind it, on one line, so many characters of each at most.
pub(super) fn description(description: &str, when_to_use: Option<&str>, most: usize) -> String {
    let mut text = one_line(description, most);
    if let Some(when) = when_to_use {
        let when = one_line(when, most);
        if !text.is_empty() && !when.is_empty() {
            text.push(' ');
        }
        text.push_str(&when);
    }
    text
}

/// An argument hint on one line, in brackets of its own or ours, so that it is seen where it ends.
pub(super) fn hint(hint: Option<&str>) -> Option<String> {
    let hint = one_line(hint?, MAX_HINT);
    match hint.chars().next()? {
        '[' | '<' => Some(hint),
        _ => Some(format!("[{hint}]")),
    }
}

/// Markdown in which nothing reads as a tag. `a < b` stays as it is; `</skill-context>` and `<!--` do not. The escape is
/// Markdown's own, so the text means the same.
pub(super) fn without_tags(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let tag = c == '<'
            && rest.peek().is_some_and(|next| next.is_alphabetic() || matches!(next, '/' | '!' | '?'));
        if tag {
            safe.push_str("&lt;");
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Text inside an XML element or attribute.
pub(super) fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            // XML 1.0 has no way to write these at all.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => safe.push(c),
        }
    }
    safe
}

/// Names as one line, the first `count` of them separated by commas.
pub(super) fn comma_list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut list = String::new();
    for name in names {
        let separator = if list.is_empty() { "" } else { NAME_SEPARATOR };
        // Writing to a `String` cannot fail.
        let _ = write!(list, "{separator}{name}");
    }
    list
}

/// What stands between two names.
pub(super) const NAME_SEPARATOR: &str = ", ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_description_does_not_push_out_when_to_use() {
        let text = description(&"x".repeat(2_000), Some("when asked"), MAX_DESCRIPTION);
        assert!(text.ends_with("x… when asked"));
        assert_eq!(description("", Some("when"), 9), "when");
        assert_eq!(description("a", Some(" \n"), 9), "a");
    }

    #[test]
    fn hints_stand_in_brackets() {
        let table =
            [("[pr-number]", "[pr-number]"), ("<file>", "<file>"), ("file", "[file]"), ("a\nb", "[a b]")];
        for (written, expected) in table {
            assert_eq!(hint(Some(written)).as_deref(), Some(expected));
        }
        assert_eq!(hint(Some(" \n ")), None);
        assert_eq!(hint(None), None);
    }

    #[test]
    fn nothing_reads_as_a_tag() {
        let table = [
            ("a < b, 3<4, <3", "a < b, 3<4, <3"),
            ("</skill-context>", "&lt;/skill-context>"),
            ("<!-- x --> <?pi <system>", "&lt;!-- x --> &lt;?pi &lt;system>"),
        ];
        for (text, expected) in table {
            assert_eq!(without_tags(text), expected);
        }
        assert_eq!(
            xml("<a b=\"c\">'&'\u{7}\u{fffe}</a>"),
            "&lt;a b=&quot;c&quot;&gt;&apos;&amp;&apos;&lt;/a&gt;"
        );
    }
}
