//! How far an offending piece reaches, for the message only: nothing is decided by it.

/// A piece that does not end within this many bytes is named by its beginning; a message needs no more, and looking
/// stays cheap.
const MAX_LOOK_BYTES: usize = 4096;

/// The length of an expansion that begins with `$` or a backtick at the start of `text`.
pub(super) fn expansion(text: &str) -> usize {
    if let Some(behind) = text.strip_prefix('`') {
        let end = behind.char_indices().take(MAX_LOOK_BYTES).find(|(_, c)| *c == '`');
        return end.map_or(1, |(at, _)| at + 2);
    }
    match text.chars().nth(1) {
        Some('(') => closed(text, 1, '(', ')'),
        Some('{') => closed(text, 1, '{', '}'),
        Some('[') => closed(text, 1, '[', ']'),
        Some(c) if c.is_ascii_alphabetic() || c == '_' => {
            let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            1 + text[1..].find(|c| !name(c)).unwrap_or(text.len() - 1)
        }
        Some('@' | '*' | '#' | '?' | '-' | '$' | '!' | '0'..='9' | '\'' | '"') => 2,
        _ => 1,
    }
}

/// The end of a balanced pair whose opening character is at byte `from`, else the byte behind that character.
pub(super) fn closed(text: &str, from: usize, open: char, close: char) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < from).take(MAX_LOOK_BYTES) {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + c.len_utf8();
            }
        }
    }
    from + open.len_utf8()
}

/// The length of the word-like run at the start of `text`.
pub(super) fn run(text: &str) -> usize {
    text.find(super::character::ends_word).unwrap_or(text.len())
}

/// The length of an operator of redirection and its target at the start of `text`.
pub(super) fn run_of_redirection(text: &str) -> usize {
    let target = text.trim_start_matches(['<', '>', '&', '|']);
    text.len() - target.len() + run(target)
}
