//! A stranger's text made harmless: what would act on a terminal, or hide from the eye, is shown as an escape.

use std::borrow::Cow;

/// The text as one line in which every character can be seen.
///
/// Control characters move a terminal's cursor, bidirectional ones change the order in which text is read, and
/// invisible ones carry text that a model reads and a person does not. Each becomes an escape such as `\u{202e}`, a
/// line break `\n`; a tab becomes a space. Joiners stay, since scripts and emoji are written with them.
///
/// ```
/// use metier_diagnostic::visible;
///
/// assert_eq!(visible("a\u{1b}[31m\nb\u{202e}c"), r"a\u{1b}[31m\nb\u{202e}c");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    rewritten(text, acts)
}

/// As [`visible`], with line breaks kept, for views that indent what follows one.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    rewritten(text, |c| c != '\n' && acts(c))
}

/// Adds one character as it may be shown.
pub(crate) fn push_visible(out: &mut String, c: char) {
    match c {
        '\t' => out.push(' '),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        c if acts(c) => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

fn rewritten(text: &str, escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if escaped(c) {
            push_visible(&mut out, c);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Whether a character does something other than being seen: a control character, a bidirectional one, one without ink.
/// [`visible`] shows it as an escape.
pub fn acts(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || matches!(c,
            // Bidirectional marks, embeddings, overrides and isolates.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            // Line breaks by other names.
            | '\u{2028}' | '\u{2029}'
            // Characters without width or ink; the joiners U+200C and U+200D are not among them.
            | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            // Tags and supplementary variation selectors, with which whole sentences are hidden.
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(visible(text), expect, "{text:?}");
    }

    #[test]
    fn what_acts_is_escaped_and_what_is_seen_stays() {
        check("plain, äöü, 日本語, 👩\u{200d}💻", "plain, äöü, 日本語, 👩\u{200d}💻");
        check("\u{0}\u{7}\u{1b}]0;x\u{7}\u{9b}", r"\u{0}\u{7}\u{1b}]0;x\u{7}\u{9b}");
        check("a\r\nb\tc", r"a\r\nb c");
        check("\u{202e}\u{2066}\u{2028}\u{feff}\u{200b}", r"\u{202e}\u{2066}\u{2028}\u{feff}\u{200b}");
        check("hi\u{e0041}", r"hi\u{e0041}");
        assert_eq!(visible_lines("a\nb\u{1b}"), "a\nb\\u{1b}");
    }
}
