//! The value of a secret.

use std::fmt;

use zeroize::Zeroizing;

/// Fewer visible characters on every line are no secret: whoever takes them out of texts takes ordinary words out, and
/// they can be guessed.
pub const MIN_SECRET: usize = 4;

/// From this length on nothing but chance makes an ordinary text hold the value.
pub const COMFORTABLE: usize = 8;

/// The longest value. Keys of services have 2 to 8 KiB; what is looked for in every output grows with it, some forty times.
pub const MAX_SECRET: usize = 16 << 10;

/// A value that is never shown: text, since environments, keyrings and files take it alike. Overwritten when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

/// Why a text cannot be a secret. None of them repeats the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// There is nothing.
    #[error("the value is empty")]
    Empty,
    /// It would take ordinary words out of every output.
    #[error(
        "the value has no line of {MIN_SECRET} visible characters: metier takes secrets out of every output, and would take \
         ordinary words out with this one"
    )]
    TooShort,
    /// It does not fit.
    #[error("the value has {length} bytes; at most {MAX_SECRET} are taken")]
    TooLong {
        /// How long it is.
        length: usize,
    },
    /// An environment cannot hold it.
    #[error(
        "the value holds a NUL byte, which no environment variable can hold; encode it first, as base64 or hex"
    )]
    Nul,
    /// It is no text.
    #[error("the value is not UTF-8 text; encode it first, as base64 or hex")]
    NotText,
}

impl Secret {
    /// Takes a text as a secret.
    pub fn new(text: String) -> Result<Self, SecretError> {
        let text = Zeroizing::new(text);
        if text.is_empty() {
            return Err(SecretError::Empty);
        }
        if text.len() > MAX_SECRET {
            return Err(SecretError::TooLong { length: text.len() });
        }
        if text.contains('\0') {
            return Err(SecretError::Nul);
        }
        let visible = |line: &str| line.chars().filter(|c| !c.is_whitespace() && !c.is_control()).count();
        if text.split(['\r', '\n']).all(|line| visible(line) < MIN_SECRET) {
            return Err(SecretError::TooShort);
        }
        Ok(Self(text))
    }

    /// Takes bytes, as they come from a pipe or a terminal.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, SecretError> {
        match String::from_utf8(bytes) {
            Ok(text) => Self::new(text),
            Err(error) => {
                drop(Zeroizing::new(error.into_bytes()));
                Err(SecretError::NotText)
            }
        }
    }

    /// The value itself. Whoever calls this gives it to a process of the skill it belongs to, or keeps it; nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it is so short that ordinary text may hold it by chance.
    pub fn is_short(&self) -> bool {
        self.0.len() < COMFORTABLE
    }
}

impl fmt::Debug for Secret {
    /// Not even the length: it is a beginning for guesses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_would_take_words_out_of_texts_are_refused() {
        let check = |text: &str, expect: Result<(), SecretError>| {
            assert_eq!(Secret::new(text.to_owned()).map(drop), expect, "{text:?}");
        };
        check("", Err(SecretError::Empty));
        check("abc", Err(SecretError::TooShort));
        check("        ", Err(SecretError::TooShort));
        check("ab\ncd\nef", Err(SecretError::TooShort));
        check("a b c", Err(SecretError::TooShort));
        check("abcd", Ok(()));
        check("1234\n", Ok(()));
        check("{\n  \"key\": 1\n}", Ok(()));
        check("schlüssel", Ok(()));
        check("ab\0cdef", Err(SecretError::Nul));
        check(&"x".repeat(MAX_SECRET), Ok(()));
        check(&"x".repeat(MAX_SECRET + 1), Err(SecretError::TooLong { length: MAX_SECRET + 1 }));
        assert_eq!(Secret::from_bytes(vec![255; 20]), Err(SecretError::NotText));
    }

    #[test]
    fn nothing_of_it_is_shown() {
        let secret = Secret::new("hunter22".to_owned()).unwrap();
        assert_eq!(format!("{secret:?} {:#?}", Some(&secret)), "Secret(…) Some(\n    Secret(…),\n)");
        assert_eq!(secret.expose(), "hunter22");
        assert!(!secret.is_short() && Secret::new("hunter2".to_owned()).unwrap().is_short());
    }
}
