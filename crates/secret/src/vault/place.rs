//! Where a secret is kept, for people to read.

use std::fmt;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

use crate::KeyringError;

/// Where a vault keeps its secrets, or where one of them is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum Place {
    /// The system's keyring.
    Keyring,
    /// A file that only the user can read.
    File {
        /// The file.
        path: PathBuf,
        /// Why it is not the keyring, where there is one.
        #[serde(skip_serializing_if = "Option::is_none", serialize_with = "words")]
        keyring: Option<KeyringError>,
    },
}

/// The reason as it is shown to people.
#[expect(clippy::ref_option, reason = "serde calls it with what the field is")]
fn words<S: Serializer>(error: &Option<KeyringError>, serializer: S) -> Result<S::Ok, S::Error> {
    match error {
        Some(error) => serializer.collect_str(error),
        None => serializer.serialize_none(),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keyring => f.write_str("the system's keyring"),
            Self::File { path, keyring } => {
                write!(f, "{}, a file that only you can read", path.display())?;
                match keyring {
                    Some(error) => write!(f, "; not in the keyring: {error}"),
                    None => Ok(()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_says_where_and_why_not_elsewhere() {
        let check = |place: &Place, words: &str, json: &str| {
            assert_eq!(place.to_string(), words);
            assert_eq!(serde_json::to_string(place).unwrap(), json);
        };
        let file = |keyring| Place::File { path: PathBuf::from("/s.json"), keyring };
        check(&Place::Keyring, "the system's keyring", r#"{"kind":"keyring"}"#);
        check(&file(None), "/s.json, a file that only you can read", r#"{"kind":"file","path":"/s.json"}"#);
        check(
            &file(Some(KeyringError::Locked)),
            "/s.json, a file that only you can read; not in the keyring: the keyring is locked; unlock it in its own program",
            r#"{"kind":"file","path":"/s.json","keyring":"the keyring is locked; unlock it in its own program"}"#,
        );
    }
}
