//! Characters that a reader does not see and a model reads.

use std::borrow::Cow;

/// The text without them, and how many there were.
///
/// Joiners and the marks of emoji stay where a script or an emoji needs them: one at a time, behind a character that is not ASCII.
/// Runs of them carry messages.
pub(in crate::general) fn without_invisible(text: &str) -> (Cow<'_, str>, usize) {
    if !text.chars().any(|c| is_invisible(c) || is_joiner(c)) {
        return (Cow::Borrowed(text), 0);
    }
    let mut out = String::with_capacity(text.len());
    let mut left_out = 0;
    let mut before = None;
    for c in text.chars() {
        let is_needed =
            is_joiner(c) && before.is_some_and(|before: char| !before.is_ascii() && !is_joiner(before));
        if is_invisible(c) || (is_joiner(c) && !is_needed) {
            left_out += 1;
        } else {
            out.push(c);
        }
        before = Some(c);
    }
    (Cow::Owned(out), left_out)
}

/// Joiners, and what makes a picture of a character.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_messages_go_and_scripts_stay() {
        let tags: String = "do it".chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c))).collect();
        for (text, expect, count) in [
            ("plain", "plain", 0),
            (&format!("a{tags}b"), "ab", 5),
            ("a\u{200b}b\u{feff}", "ab", 2),
            ("a\u{202e}b", "ab", 1),
            ("👩\u{200d}🔬 ❤\u{fe0f}", "👩\u{200d}🔬 ❤\u{fe0f}", 0),
            ("می\u{200c}خواهم", "می\u{200c}خواهم", 0),
            ("a\u{200d}\u{200c}\u{200d}b", "ab", 3),
            ("x\u{fe0f}\u{e0101}", "x", 2),
        ] {
            let (found, left_out) = without_invisible(text);
            assert_eq!((found.as_ref(), left_out), (expect, count), "{text:?}");
        }
    }
}
