//! The word without which nobody is answered.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use metier_files::{read_bounded, write_private};
use subtle::ConstantTimeEq;

/// Random bytes of a token: more than anybody can try.
const BYTES: usize = 32;

/// The shortest token that is taken from a file. What is shorter was not made by us and could be guessed.
const MIN_LENGTH: usize = 32;

/// The largest file that is read as one.
const MAX_BYTES: u64 = 4 << 10;

/// A word that a client has to bring. It is not shown by `Debug`, so that it does not end in a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The system gives no random bytes.
    #[error("there are no random bytes for a token: {0}")]
    Random(String),
    /// The file cannot be read or written.
    #[error("the token cannot be kept in {}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something else is in the file.
    #[error("{} does not hold a token: it needs {MIN_LENGTH} letters and digits or more; remove it to get a new one", .0.display())]
    NotOne(PathBuf),
}

impl Token {
    /// A new one.
    pub fn random() -> Result<Self, TokenError> {
        let mut bytes = [0_u8; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        Ok(Self(digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()))
    }

    /// The token that is kept in a file, made if there is none. The file is its owner's alone afterwards, whatever it was before.
    pub fn kept_in(file: &Path) -> Result<Self, TokenError> {
        match read_bounded(file, MAX_BYTES).map_err(|source| failed(file, source))? {
            Some(bytes) => {
                Self::parse(&bytes).ok_or_else(|| TokenError::NotOne(file.to_owned()))?.write(file)
            }
            None => Self::new_in(file),
        }
    }

    /// A new token in the place of the one that is kept in a file, which is not taken any more.
    pub fn new_in(file: &Path) -> Result<Self, TokenError> {
        Self::random()?.write(file)
    }

    fn write(self, file: &Path) -> Result<Self, TokenError> {
        let written = write_private(file, format!("{}\n", self.0).as_bytes());
        written.map(|()| self).map_err(|source| failed(file, source))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?.trim();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
        (text.len() >= MIN_LENGTH && is_plain).then(|| Self(text.to_owned()))
    }

    /// The word itself, for whoever configures a host.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether this is it, in constant time for texts of its length: the clock must not tell how much of a guess was right.
    pub(crate) fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

fn failed(file: &Path, source: io::Error) -> TokenError {
    TokenError::File { path: file.to_owned(), source }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test looks at what is on the disk")]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn a_token_is_kept_for_its_owner_alone_and_found_again() {
        let workspace =
            Workspace::new().file("loose", "0123456789abcdef0123456789abcdef\n").mode("loose", 0o644);
        let file = workspace.join("state/token");
        let first = Token::kept_in(&file).unwrap();
        assert_eq!(first.reveal().len(), 2 * BYTES);
        assert_eq!(Token::kept_in(&file).unwrap(), first);
        assert_ne!(Token::new_in(&file).unwrap(), first);
        let loose = workspace.join("loose");
        assert_eq!(Token::kept_in(&loose).unwrap().reveal(), "0123456789abcdef0123456789abcdef");
        for file in [file, loose] {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
        }
        assert_eq!(format!("{first:?}"), "Token(…)");
    }

    #[test]
    fn what_could_be_guessed_is_no_token() {
        for text in [
            "",
            "short",
            "0123456789abcdef0123456789abcde",
            "0123456789abcdef 0123456789abcdef",
            "\u{e4}".repeat(40).as_str(),
        ] {
            assert!(Token::parse(text.as_bytes()).is_none(), "{text}");
        }
        let token = Token::parse(b"0123456789abcdef0123456789abcdef").unwrap();
        assert!(token.is("0123456789abcdef0123456789abcdef"));
        for given in ["", "0123456789abcdef0123456789abcdeF", "0123456789abcdef0123456789abcdef0"] {
            assert!(!token.is(given), "{given}");
        }
    }
}
