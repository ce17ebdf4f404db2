//! A key for a provider, which never shows itself.

use std::fmt;

use metier_secret::Secret;

/// A value that proves to a provider who asks: a key, or a header that was given for it. It shows itself nowhere and is
/// overwritten when it is dropped. While a request is under way the HTTP client holds a copy.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Secret);

/// Why a text cannot be a key. None of them repeats the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It is empty, too short or too long to be one.
    #[error("{0}")]
    NotASecret(#[from] metier_secret::SecretError),
    /// No header can hold it.
    #[error("the key holds a character that no header can hold; copy it once more, without line ends")]
    NotAHeader,
}

impl Key {
    /// Takes a text as a key. Blanks and line ends around it, which come with copying, are left out.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if !text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return Err(KeyError::NotAHeader);
        }
        Ok(Self(Secret::new(text.to_owned())?))
    }

    /// The value, for the header it goes into and for the redactor that takes it out of everything else.
    pub(crate) fn secret(&self) -> &Secret {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_nothing() {
        let key = Key::new(" sk-test-1234567890\n").unwrap();
        assert_eq!(format!("{key:?}"), "Key(…)");
        assert_eq!(key.secret().expose(), "sk-test-1234567890");
    }

    #[test]
    fn what_no_header_holds_is_refused_without_showing_it() {
        for text in ["sk-te\nst", "schlüssel-1234", "", "ab"] {
            let error = Key::new(text).unwrap_err().to_string();
            assert!(text.len() < 3 || !error.contains(text), "{error}");
        }
    }
}
