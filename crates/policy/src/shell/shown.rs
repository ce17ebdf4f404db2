//! A piece of a line inside a message.

/// A message is read as one sentence; of a longer piece its beginning says enough.
const MAX_SHOWN_CHARACTERS: usize = 60;

/// A stranger's text, cut, with whatever would act on a terminal or hide from the eye as an escape.
pub(super) fn shown(text: &str) -> String {
    let escaped = |c: char| match c {
        '\'' | '"' | '\\' => c.to_string(),
        c => c.escape_debug().to_string(),
    };
    let start: String = text.chars().take(MAX_SHOWN_CHARACTERS).map(escaped).collect();
    if text.chars().nth(MAX_SHOWN_CHARACTERS).is_some() { start + "…" } else { start }
}
