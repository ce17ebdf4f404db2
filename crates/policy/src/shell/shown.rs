//! A piece of a line inside a message.

use std::fmt;

/// A message is read as one sentence; of a longer piece its beginning says enough.
const MAX_SHOWN_CHARACTERS: usize = 60;

/// A stranger's text, cut, with whatever would act on a terminal or hide from the eye as an escape.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars().take(MAX_SHOWN_CHARACTERS) {
            match c {
                '\'' | '"' | '\\' => write!(f, "{c}")?,
                c => write!(f, "{}", c.escape_debug())?,
            }
        }
        match self.0.chars().nth(MAX_SHOWN_CHARACTERS) {
            Some(_) => f.write_str("…"),
            None => Ok(()),
        }
    }
}
