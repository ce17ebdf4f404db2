//! Paths inside a project.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How many names a path may have. Projects have 20; a tree that is deeper was made to break the programs that walk it.
pub(crate) const MAX_DEPTH: usize = 512;
/// What the kernel takes as one path, the NUL at its end included.
const PATH_MAX: usize = 4096;

/// The folder that holds the layers of a project where the data folder is on another file system.
pub(crate) const LAYERS_NAME: &str = ".metier-layers";
/// How the folder in a project begins in which a layer of another file system is made ready.
pub(crate) const STAGE_PREFIX: &str = ".metier-stage-";

/// A path inside the project: relative, without `.` and `..`, never empty. Names need not be UTF-8.
///
/// Paths are ordered by their names, so what is in a folder follows it at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LayerPath(OsString);

impl LayerPath {
    /// A path of plain names; `None` where it is empty, absolute or has steps upwards.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "most callers have a path that they do not need any more"
    )]
    pub fn new(path: PathBuf) -> Option<Self> {
        let is_plain = path.components().all(|component| matches!(component, Component::Normal(_)));
        // Without repeated and trailing separators: two spellings would be two paths.
        let plain: PathBuf = path.components().collect();
        (is_plain && !plain.as_os_str().is_empty()).then(|| Self(plain.into_os_string()))
    }

    /// The project's own folder, of which only a refusal tells.
    pub(crate) fn project() -> Self {
        Self(".".into())
    }

    /// The entry `name` at the top.
    pub(crate) fn top(name: &OsStr) -> Self {
        Self(name.to_owned())
    }

    /// The entry `name` of a folder; at the top for `None`.
    pub(crate) fn below(folder: Option<&Self>, name: &OsStr) -> Self {
        folder.map_or_else(|| Self::top(name), |folder| folder.child(name))
    }

    /// The entry `name` of this folder.
    pub(crate) fn child(&self, name: &OsStr) -> Self {
        let mut path = OsString::with_capacity(self.0.len() + 1 + name.len());
        path.push(&self.0);
        path.push("/");
        path.push(name);
        Self(path)
    }

    /// As a path below the project.
    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// The folder it lies in; `None` at the top.
    pub fn parent(&self) -> Option<Self> {
        let bytes = self.0.as_bytes();
        let end = bytes.iter().rposition(|byte| *byte == b'/')?;
        Some(Self(OsStr::from_bytes(&bytes[..end]).to_owned()))
    }

    /// Whether its last name is one under which metier keeps journals. On some file systems case makes no difference.
    pub(crate) fn has_own_name(&self) -> bool {
        let bytes = self.0.as_bytes();
        let name = bytes.rsplit(|byte| *byte == b'/').next().unwrap_or(bytes);
        let begins = |with: &str| {
            name.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
        };
        name.eq_ignore_ascii_case(LAYERS_NAME.as_bytes()) || begins(STAGE_PREFIX)
    }

    /// Whether one of its names is such a one.
    pub(crate) fn is_own(&self) -> bool {
        std::iter::successors(Some(self.clone()), Self::parent).any(|path| path.has_own_name())
    }

    /// Whether it is too long, as a path below a folder whose own path has `above` bytes.
    pub(crate) fn is_too_deep(&self, above: usize) -> bool {
        let bytes = self.0.as_bytes();
        above + 1 + bytes.len() >= PATH_MAX || bytes.split(|byte| *byte == b'/').count() > MAX_DEPTH
    }

    /// Whether it is `other` or lies below it.
    pub fn is_below(&self, other: &Self) -> bool {
        let rest = self.0.as_bytes().strip_prefix(other.0.as_bytes());
        rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
    }
}

/// As the names of both compare, one by one. Written out, since the standard library takes both paths apart each time, which
/// took most of the time of applying.
impl Ord for LayerPath {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (self.0.as_bytes(), other.0.as_bytes());
        // No name has a byte that is less than the separator then.
        let rank = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
        let differing = left.iter().zip(right).find(|(left, right)| left != right);
        differing.map_or_else(|| left.len().cmp(&right.len()), |(left, right)| rank(left).cmp(&rank(right)))
    }
}

impl PartialOrd for LayerPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// For people; bytes that are not UTF-8 are replaced.
impl fmt::Display for LayerPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_path().display().fmt(formatter)
    }
}

/// What marks a name that is not UTF-8 in JSON: no path begins with a NUL.
const HEX: &str = "\0hex:";

impl Serialize for LayerPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.0.to_str() {
            return serializer.serialize_str(text);
        }
        let digits = self.0.as_bytes().iter().map(|byte| format!("{byte:02x}"));
        serializer.serialize_str(&std::iter::once(HEX.to_owned()).chain(digits).collect::<String>())
    }
}

impl<'de> Deserialize<'de> for LayerPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let path = match text.strip_prefix(HEX) {
            None if text == "." => return Ok(Self::project()),
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
    fn the_order_is_that_of_the_names() {
        let texts =
            ["a", "a/b", "a/b/c", "a/bc", "a b", "a-", "a.", "a.b/c", "ab", "b", "a/\u{1f600}", "a\u{1}/b"];
        for left in texts {
            for right in texts {
                let path = |text: &str| LayerPath::new(text.into()).unwrap();
                assert_eq!(
                    path(left).cmp(&path(right)),
                    Path::new(left).cmp(Path::new(right)),
                    "{left} {right}"
                );
                assert_eq!(
                    path(left).is_below(&path(right)),
                    Path::new(left).starts_with(right),
                    "{left} {right}"
                );
            }
            let parent = LayerPath::new(left.into()).unwrap().parent();
            let expected = Path::new(left).parent().and_then(|parent| LayerPath::new(parent.to_owned()));
            assert_eq!(parent, expected, "{left}");
        }
        assert_eq!(LayerPath::new("a//b/".into()), LayerPath::new("a/b".into()));
    }

    #[test]
    fn own_names_and_depths_are_recognised() {
        let path = |text: &str| LayerPath::new(text.into()).unwrap();
        for own in [".metier-layers", "a/.metier-stage-1", ".Metier-Layers", "a/b/.metier-stage-"] {
            assert!(path(own).has_own_name(), "{own}");
            assert!(path(own).child("x".as_ref()).is_own(), "{own}");
        }
        for other in [".metier", "metier-layers", ".metier-layers2", "metier-stage-1", "a.metier-stage-1"] {
            assert!(!path(other).is_own(), "{other}");
        }
        let deep = |names: usize| path(&vec!["d"; names].join("/"));
        assert!(!deep(MAX_DEPTH).is_too_deep(100));
        assert!(deep(MAX_DEPTH + 1).is_too_deep(100));
        assert!(path(&"x".repeat(250)).is_too_deep(4000));
    }

    #[test]
    fn every_name_survives_json() {
        for bytes in [&b"a/b c"[..], b"\xff\xfe/x", "\u{1f600}".as_bytes(), b"line\nend"] {
            let path = LayerPath::new(PathBuf::from(OsStr::from_bytes(bytes))).unwrap();
            let text = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<LayerPath>(&text).unwrap(), path, "{text}");
        }
        let project = serde_json::to_string(&LayerPath::project()).unwrap();
        assert_eq!(serde_json::from_str::<LayerPath>(&project).unwrap(), LayerPath::project());
        for bad in ["\"../x\"", "\"/x\"", "\"\\u0000hex:2e2e\"", "\"\\u0000hex:f\""] {
            assert!(serde_json::from_str::<LayerPath>(bad).is_err(), "{bad}");
        }
    }
}
