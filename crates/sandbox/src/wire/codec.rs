//! Values as bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes that are no such value. Both sides are the same program, so this is a bug or an attack, never bad luck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message between metier and its helper is garbled")]
pub(crate) struct Garbled;

/// The bytes of a value.
pub(crate) fn encode(value: &impl Serialize) -> Vec<u8> {
    // Everything that is sent can be written; if it ever could not, the other side finds no value in no bytes.
    postcard::to_stdvec(value).unwrap_or_default()
}

/// The value that all of the bytes are.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Garbled> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(Garbled),
    }
}

/// For `#[serde(with)]`: a path as the system's text, since serde's own form of a path demands UTF-8.
pub(crate) mod path {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(deserializer).map(PathBuf::from)
    }
}

/// The same for a list of paths.
pub(crate) mod paths {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| path.as_os_str()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        let paths = Vec::<OsString>::deserialize(deserializer)?;
        Ok(paths.into_iter().map(PathBuf::from).collect())
    }
}
