use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A path inside a skill's folder: never absolute, never with `..`, never empty.
///
/// It is parsed from text that a model, a body or an archive supplied, so the rules hold for every system at once: a
/// drive letter and a backslash step are refused on Linux too, since the same skill is read elsewhere. `./` and double
/// slashes are removed, so that equal paths are equal. Names found on the disk need not be UTF-8 and are kept as they
/// are; [`fmt::Display`] replaces what is not.
///
/// ```
/// use metier_files::RelativePath;
///
/// let path: RelativePath = "./scripts//run.py".parse()?;
/// assert_eq!(path.to_string(), "scripts/run.py");
/// assert!("scripts/../../id_rsa".parse::<RelativePath>().is_err());
/// # Ok::<(), metier_files::RelativePathError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RelativePath(PathBuf);

/// Why a text is no [`RelativePath`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RelativePathError {
    /// Nothing is left of it.
    #[error("the path is empty")]
    Empty,
    /// It starts at the root of a file system, a drive or a share.
    #[error("the path is absolute")]
    Absolute,
    /// It has a `..` step, with either kind of slash.
    #[error("the path has a `..` step")]
    Parent,
    /// It holds a NUL byte, at which the system would cut it.
    #[error("the path holds a NUL byte")]
    Nul,
}

impl RelativePath {
    /// Reads a path from text.
    pub fn parse(text: &str) -> Result<Self, RelativePathError> {
        Self::parse_bytes(text.as_bytes())
    }

    /// Reads a path that came from the system and need not be UTF-8.
    pub fn parse_os(text: &OsStr) -> Result<Self, RelativePathError> {
        Self::parse_bytes(text.as_bytes())
    }

    fn parse_bytes(bytes: &[u8]) -> Result<Self, RelativePathError> {
        if bytes.contains(&0) {
            return Err(RelativePathError::Nul);
        }
        if bytes.first() == Some(&b'/') {
            return Err(RelativePathError::Absolute);
        }
        // A backslash is an ordinary character of a Linux file name and stays one; only a step upwards written with it
        // is refused, because a Windows reader of the same skill would take that step.
        if bytes.split(|&byte| byte == b'/' || byte == b'\\').any(|part| part == b"..") {
            return Err(RelativePathError::Parent);
        }
        let mut path = PathBuf::with_capacity(bytes.len());
        for part in bytes.split(|&byte| byte == b'/').filter(|&part| !part.is_empty() && part != b".") {
            // Looked at here and not on the whole text, or a `./` before it would hide a drive.
            if path.as_os_str().is_empty() && starts_elsewhere(part) {
                return Err(RelativePathError::Absolute);
            }
            path.push(OsStr::from_bytes(part));
        }
        if path.as_os_str().is_empty() { Err(RelativePathError::Empty) } else { Ok(Self(path)) }
    }

    /// Puts a name found in the folder `self` below it. The system gives names without slashes, and the walk leaves `.`
    /// and `..` out, so the result keeps the promise.
    pub(crate) fn below(folder: Option<&Self>, name: &OsStr) -> Self {
        Self(folder.map_or_else(|| PathBuf::from(name), |folder| folder.0.join(name)))
    }

    /// The path, to be joined to a folder.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// The path as text, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        self.0.to_str()
    }

    /// The path's bytes, with `/` between the parts.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_os_str().as_bytes()
    }

    /// The last part.
    pub fn file_name(&self) -> &OsStr {
        self.0.file_name().unwrap_or_default()
    }
}

/// `\x`, `\\host\x`, `C:\x`, `C:/x` and `C:x` all leave the folder on Windows. A name such as `a:b` with a single letter
/// is refused with them: it is rarer than the attack.
fn starts_elsewhere(part: &[u8]) -> bool {
    matches!(part, [b'\\', ..]) || matches!(part, [letter, b':', ..] if letter.is_ascii_alphabetic())
}

impl Ord for RelativePath {
    /// Byte by byte over the whole path, which is the order of digests and listings on every system.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl PartialOrd for RelativePath {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(formatter)
    }
}

impl FromStr for RelativePath {
    type Err = RelativePathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl AsRef<Path> for RelativePath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_become_clean_paths_or_a_named_refusal() {
        use RelativePathError::{Absolute, Empty, Nul, Parent};
        let table: &[(&str, Result<&str, RelativePathError>)] = &[
            ("scripts/run.py", Ok("scripts/run.py")),
            ("./scripts/./run.py", Ok("scripts/run.py")),
            ("scripts//run.py", Ok("scripts/run.py")),
            ("scripts/", Ok("scripts")),
            ("...", Ok("...")),
            ("..a/b..", Ok("..a/b..")),
            ("näh/件.md", Ok("näh/件.md")),
            ("a\\b", Ok("a\\b")),
            ("~/x", Ok("~/x")),
            ("", Err(Empty)),
            (".", Err(Empty)),
            ("./", Err(Empty)),
            ("/etc/passwd", Err(Absolute)),
            ("//host/share", Err(Absolute)),
            ("\\\\host\\share", Err(Absolute)),
            ("\\windows", Err(Absolute)),
            ("C:\\x", Err(Absolute)),
            ("c:/x", Err(Absolute)),
            ("C:x", Err(Absolute)),
            (".//C:x", Err(Absolute)),
            ("./\\x", Err(Absolute)),
            ("..", Err(Parent)),
            ("../x", Err(Parent)),
            ("a/..", Err(Parent)),
            ("a/../b", Err(Parent)),
            ("a\\..\\b", Err(Parent)),
            ("a/..\\b", Err(Parent)),
            ("..\\b", Err(Parent)),
            ("a\0b", Err(Nul)),
        ];
        for (text, expected) in table {
            let parsed = RelativePath::parse(text);
            assert_eq!(
                parsed.as_ref().map(|path| path.as_str().unwrap()),
                expected.as_ref().copied(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn names_that_are_not_utf8_are_kept() {
        let path = RelativePath::parse_os(OsStr::from_bytes(b"a/\xff.md")).unwrap();
        assert_eq!(path.as_bytes(), b"a/\xff.md");
        assert_eq!(path.as_str(), None);
        assert_eq!(path.to_string(), "a/\u{fffd}.md");
    }

    /// Slashes, dots, drives and NULs much more often than chance would put them there.
    fn nasty() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            Just("..".to_owned()),
            Just(".".to_owned()),
            Just(String::new()),
            Just("C:".to_owned()),
            Just("\0".to_owned()),
            "[a-zé.\\\\]{0,4}",
            any::<String>(),
        ];
        let separator = prop_oneof![Just("/"), Just("\\"), Just("//"), Just("/./")];
        prop::collection::vec((part, separator), 0..6).prop_map(|parts| {
            parts.into_iter().flat_map(|(part, separator)| [part, separator.to_owned()]).collect()
        })
    }

    proptest! {
        #[test]
        fn a_parsed_path_never_leaves_the_folder_it_is_joined_to(text in nasty()) {
            if let Ok(path) = RelativePath::parse(&text) {
                let joined = Path::new("/base").join(&path);
                prop_assert!(joined.starts_with("/base"));
                prop_assert!(joined.components().skip(2).all(|part| matches!(part, Component::Normal(_))));
                prop_assert!(joined.components().count() > 2);
            }
        }

        #[test]
        fn parsing_what_was_parsed_changes_nothing(text in nasty()) {
            if let Ok(path) = RelativePath::parse(&text) {
                prop_assert_eq!(RelativePath::parse(path.as_str().unwrap()).unwrap(), path);
            }
        }
    }
}
