//! Paths inside a project.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path inside the project: relative, without `.` and `..`, never empty. Names need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerPath(PathBuf);

impl LayerPath {
    /// A path of plain names; `None` where it is empty, absolute or has steps upwards.
    pub fn new(path: PathBuf) -> Option<Self> {
        let is_plain = path.components().all(|component| matches!(component, Component::Normal(_)));
        (is_plain && !path.as_os_str().is_empty()).then_some(Self(path))
    }

    /// The entry `name` at the top.
    pub(crate) fn top(name: &OsStr) -> Self {
        Self(PathBuf::from(name))
    }

    /// The entry `name` of this folder.
    pub(crate) fn child(&self, name: &OsStr) -> Self {
        Self(self.0.join(name))
    }

    /// As a path below the project.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// The folder it lies in; `None` at the top.
    pub fn parent(&self) -> Option<Self> {
        Self::new(self.0.parent()?.to_owned())
    }

    /// Whether it is `other` or lies below it.
    pub fn is_below(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

/// For people; bytes that are not UTF-8 are replaced.
impl fmt::Display for LayerPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(formatter)
    }
}

/// What marks a name that is not UTF-8 in JSON: no path begins with a NUL.
const HEX: &str = "\0hex:";

impl Serialize for LayerPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.0.to_str() {
            return serializer.serialize_str(text);
        }
        let digits = self.0.as_os_str().as_bytes().iter().map(|byte| format!("{byte:02x}"));
        serializer.serialize_str(&std::iter::once(HEX.to_owned()).chain(digits).collect::<String>())
    }
}

impl<'de> Deserialize<'de> for LayerPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let path = match text.strip_prefix(HEX) {
            None => PathBuf::from(&*text),
            Some(digits) => {
                let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
                let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
                let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
                let bytes = bytes.filter(|_| rest.is_empty());
                OsString::from_vec(bytes.ok_or_else(|| D::Error::custom("invalid hexadecimal path"))?).into()
            }
        };
        Self::new(path).ok_or_else(|| D::Error::custom(format!("{text:?} is not a path inside the project")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_inside_are_taken() {
        for good in ["a", "a/b", ".hidden", "..."] {
            assert!(LayerPath::new(good.into()).is_some(), "{good}");
        }
        for bad in ["", "/a", "..", "a/../b", "."] {
            assert!(LayerPath::new(bad.into()).is_none(), "{bad}");
        }
    }

    #[test]
    fn every_name_survives_json() {
        for bytes in [&b"a/b c"[..], b"\xff\xfe/x", "\u{1f600}".as_bytes(), b"line\nend"] {
            let path = LayerPath::new(PathBuf::from(OsStr::from_bytes(bytes))).unwrap();
            let text = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<LayerPath>(&text).unwrap(), path, "{text}");
        }
        for bad in ["\"../x\"", "\"/x\"", "\"\\u0000hex:2e2e\"", "\"\\u0000hex:f\""] {
            assert!(serde_json::from_str::<LayerPath>(bad).is_err(), "{bad}");
        }
    }
}
