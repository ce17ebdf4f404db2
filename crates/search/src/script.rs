//! Which writing a character belongs to, as far as words are found differently in it.

/// How words are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    /// Words stand between blanks.
    Spaced,
    /// Chinese, Japanese and Korean: words run together, so pairs of characters stand for them.
    Joined,
}

/// The script of a character that is a letter or digit.
pub(crate) fn script_of(character: char) -> Script {
    match character {
        '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' => Script::Joined,
        _ => Script::Spaced,
    }
}

/// Whether a character is hiragana, in which Japanese writes endings and particles: what `the` and `-ing` are here.
pub(crate) fn is_hiragana(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{309f}')
}
