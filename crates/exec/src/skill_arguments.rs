//! What a skill or one of its scripts is started with.

use std::borrow::Cow;

use crate::arguments::{ArgumentError, check_arguments, check_text};

/// What a skill or a script is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillArguments {
    /// One text, as it was typed or as a model gave it. It is split the POSIX way where a body asks for single ones.
    Text(String),
    /// A list, as a caller gives it. A script gets its elements; `$ARGUMENTS` is its elements, one a line.
    List(Vec<String>),
    /// Words of a command line, kept as they are. `$ARGUMENTS` is the words with a space between.
    Words(Vec<String>),
}

impl Default for SkillArguments {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl SkillArguments {
    /// What follows `--` on a command line: one word is the text, several are a list whose elements are kept.
    pub fn of_command_line(mut words: Vec<String>) -> Self {
        match words.len() {
            0 => Self::default(),
            1 => Self::Text(words.swap_remove(0)),
            _ => Self::Words(words),
        }
    }

    /// The argument text, byte for byte.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::List(list) => Cow::Owned(list.join("\n")),
            Self::Words(words) => Cow::Owned(words.join(" ")),
        }
    }

    /// Whether there are none. Blanks alone are none: they split into nothing.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::List(list) | Self::Words(list) => list.is_empty(),
        }
    }

    /// Rejects what no process could be given: more than [`MAX_ARGUMENTS`](crate::MAX_ARGUMENTS), or a NUL.
    pub fn check(&self) -> Result<(), ArgumentError> {
        match self {
            Self::Text(text) => check_text(text),
            Self::List(list) | Self::Words(list) => check_arguments(list),
        }
    }
}

impl From<&str> for SkillArguments {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SkillArguments {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for SkillArguments {
    fn from(list: Vec<String>) -> Self {
        Self::List(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::MAX_ARGUMENTS;

    #[test]
    fn what_no_process_could_be_given_is_refused() {
        let nul = SkillArguments::List(vec!["a".into(), "b\0".into()]);
        assert_eq!(nul.check(), Err(ArgumentError::Nul { at: 3 }));
        let long = SkillArguments::Text("a".repeat(MAX_ARGUMENTS + 1));
        assert_eq!(long.check(), Err(ArgumentError::TooLong { bytes: MAX_ARGUMENTS + 1 }));
        assert_eq!(SkillArguments::Text("a".repeat(MAX_ARGUMENTS)).check(), Ok(()));
    }
}
