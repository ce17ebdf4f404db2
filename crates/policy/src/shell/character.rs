//! Characters that look like something else than the shell makes of them.

use super::refusal::RefusalKind;

/// Whether the shell ends an unquoted word here.
pub(super) fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')')
}

/// Why a character cannot stand outside quotes. People see a blank or nothing at all where the shell sees a letter, so
/// what they approve and what runs would differ.
pub(super) fn refused_bare(c: char) -> Option<RefusalKind> {
    match c {
        '\t' | '\n' => None,
        '\r' => Some(RefusalKind::CarriageReturn),
        c if c.is_control() => Some(RefusalKind::Control),
        c if c.is_ascii() => None,
        c if c.is_whitespace() => Some(RefusalKind::Blank),
        // The Braille pattern without dots is a blank to the eye and a symbol to Unicode.
        '\u{2800}' => Some(RefusalKind::Blank),
        c if shows_nothing(c) => Some(RefusalKind::Invisible),
        _ => None,
    }
}

/// Why a character cannot stand inside quotes. NUL ends an argument early, and bash uses some control characters as
/// marks of its own; new lines, tabs and carriage returns are ordinary text there.
pub(super) fn refused_quoted(c: char) -> Option<RefusalKind> {
    match c {
        '\t' | '\n' | '\r' => None,
        c if c.is_ascii_control() => Some(RefusalKind::Control),
        _ => None,
    }
}

fn shows_nothing(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
