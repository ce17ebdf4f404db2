//! The way back: a word written so that the shell and [`parse`](super::parse) read it as it is.

use std::borrow::Cow;

/// Quotes one word. Plain words stay as they are, so that what people are shown stays readable.
///
/// ```
/// use metier_policy::shell::quote;
///
/// assert_eq!(quote("--oneline"), "--oneline");
/// assert_eq!(quote("it's"), r"'it'\''s'");
/// assert_eq!(quote(""), "''");
/// ```
pub fn quote(word: &str) -> Cow<'_, str> {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ',' | ':' | '@' | '+');
    if !word.is_empty() && word.chars().all(plain) && !metier_shell::is_reserved(word) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// Quoted words as a line.
pub(crate) fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}
