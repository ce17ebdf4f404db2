//! Ids of sessions and of memory records: time first, so that they sort, then chance, so that nobody guesses one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{StoreError, Timestamp};

/// Digits and small letters without `i`, `l`, `o` and `u`, which are misread or make words. In the order of their bytes, so
/// that texts sort as numbers do.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// 128 bits, five to a letter.
const LENGTH: usize = 26;

/// The bits of chance: with 80 of them an id can neither be guessed nor meet another of the same millisecond.
const CHANCE: u32 = 80;

/// How much of its end is shown where ids stand in lists. Six letters are 30 bits of chance; the beginning is the time,
/// which neighbours share.
const SHORT: usize = 6;

/// Which session. Sorts by the time at which it began, and cannot be guessed.
///
/// ```
/// use metier_store::SessionId;
///
/// let id = SessionId::new()?;
/// assert_eq!(id.to_string().len(), 26);
/// assert_eq!(id.to_string().to_uppercase().parse(), Ok(id));
/// # Ok::<(), metier_store::StoreError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(u128);

/// Which memory record. The same kind of id as a session's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RecordId(u128);

/// A text that is no id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no id; an id has 26 letters and digits", shown(.0))]
pub struct ParseIdError(String);

impl SessionId {
    /// A new one, for a session that begins now.
    pub fn new() -> Result<Self, StoreError> {
        Ok(Self(fresh(Timestamp::now())?))
    }

    /// When it was made, as it says itself.
    pub fn made(self) -> Timestamp {
        Timestamp::from_millis(u64::try_from(self.0 >> CHANCE).unwrap_or(u64::MAX))
    }

    /// Its last letters, for lists. [`Store::find`](crate::Store::find) takes them.
    pub fn short(self) -> String {
        text(self.0).split_off(LENGTH - SHORT)
    }
}

impl RecordId {
    /// A new one.
    pub fn new() -> Result<Self, StoreError> {
        Ok(Self(fresh(Timestamp::now())?))
    }

    /// The one with this number among those of a session: whoever has to write a record twice, since they cannot know whether the
    /// first one came through, names the same.
    pub fn within(session: SessionId, number: u64) -> Self {
        let chance = session.0.wrapping_add(u128::from(number).wrapping_add(1)) & ((1 << CHANCE) - 1);
        Self(session.0 >> CHANCE << CHANCE | chance)
    }
}

macro_rules! written {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&text(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                number(text).map(Self).ok_or_else(|| ParseIdError(text.to_owned()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = ParseIdError;

            fn try_from(text: String) -> Result<Self, ParseIdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                text(id.0)
            }
        }
    };
}

written!(SessionId);
written!(RecordId);

/// What somebody typed, as ids are written: small letters, and those that are misread as what they were.
pub(crate) fn as_written(typed: &str) -> Option<String> {
    let written: Option<String> =
        typed.trim().bytes().map(|byte| Some(char::from(ALPHABET[usize::from(value(byte)?)]))).collect();
    written.filter(|written| (1..=LENGTH).contains(&written.len()))
}

fn fresh(at: Timestamp) -> Result<u128, StoreError> {
    let mut chance = [0; 16];
    getrandom::fill(&mut chance).map_err(|error| StoreError::Random { detail: error.to_string() })?;
    let chance = u128::from_be_bytes(chance) & ((1 << CHANCE) - 1);
    Ok(u128::from(at.millis()) << CHANCE | chance)
}

fn text(number: u128) -> String {
    (0..LENGTH)
        .rev()
        .map(|place| {
            let digit = (number >> (5 * place)) & 31;
            char::from(ALPHABET[usize::try_from(digit).unwrap_or_default()])
        })
        .collect()
}

fn number(text: &str) -> Option<u128> {
    if text.len() != LENGTH {
        return None;
    }
    let mut number: u128 = 0;
    for (place, byte) in text.bytes().enumerate() {
        let value = value(byte)?;
        // 26 letters are 130 bits: the first one has room for three.
        if place == 0 && value > 7 {
            return None;
        }
        number = number << 5 | u128::from(value);
    }
    Some(number)
}

fn value(byte: u8) -> Option<u8> {
    let byte = match byte.to_ascii_lowercase() {
        b'i' | b'l' => b'1',
        b'o' => b'0',
        other => other,
    };
    ALPHABET.iter().position(|letter| *letter == byte).and_then(|place| u8::try_from(place).ok())
}

/// A stranger's text in a message: a little of it, and nothing that moves a cursor.
fn shown(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_as_numbers_and_come_back_from_their_text() {
        let mut ids: Vec<u128> = vec![0, 1, 31, 32, u128::MAX, u128::MAX - 1, 1 << 80, (1 << 80) - 1];
        ids.sort_unstable();
        let texts: Vec<String> = ids.iter().map(|id| text(*id)).collect();
        assert!(texts.is_sorted(), "{texts:?}");
        for (id, text) in ids.iter().zip(&texts) {
            assert_eq!(number(text), Some(*id), "{text}");
        }
    }

    #[test]
    fn what_is_no_id_is_told_as_such() {
        for text in [
            "",
            "x",
            "8zzzzzzzzzzzzzzzzzzzzzzzzz",
            "0000000000000000000000000u",
            "00000000000000000000000000 ",
        ] {
            assert!(text.parse::<SessionId>().is_err(), "{text:?}");
        }
        assert_eq!(
            "\x1b[2J".parse::<SessionId>().unwrap_err().to_string(),
            "`\\u{1b}[2J` is no id; an id has 26 letters and digits"
        );
    }

    #[test]
    fn what_is_misread_is_read_as_it_was_meant() {
        assert_eq!(as_written("O1L"), Some("011".to_owned()));
        assert_eq!(as_written("u"), None);
        assert_eq!(as_written(""), None);
    }

    #[test]
    fn an_id_says_when_it_was_made_and_no_two_are_alike() {
        let before = Timestamp::now();
        let (one, other) = (SessionId::new().unwrap(), SessionId::new().unwrap());
        assert!(one.made() >= before && one.made() <= Timestamp::now());
        assert_ne!(one, other);
        assert!(one.to_string().ends_with(&one.short()));
    }
}
