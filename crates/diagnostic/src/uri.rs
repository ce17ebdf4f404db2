//! Paths as URIs.

use std::path::{Component, Path};

/// A path as a URI: below the root a relative one, elsewhere one with the scheme `file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Uri {
    /// Relative to the root.
    Relative(String),
    /// Of a file that does not lie below the root.
    Absolute(String),
}

impl Uri {
    /// A path that is relative already is taken to be so to the root.
    pub(crate) fn of(path: &Path, root: &Path) -> Self {
        let inside = path.strip_prefix(root).unwrap_or(path);
        let text = encoded(inside);
        if inside.has_root() {
            Self::Absolute(format!("file://{text}"))
        } else if text.is_empty() {
            // The root itself: an empty reference is lawful, and half of its readers take it for a missing one.
            Self::Relative(".".to_owned())
        } else {
            Self::Relative(text)
        }
    }

    /// The URI of a folder, which ends with a slash, so that what is relative to it goes below it.
    pub(crate) fn of_folder(path: &Path) -> Option<String> {
        let text = path.has_root().then(|| encoded(path))?;
        Some(format!("file://{}/", text.trim_end_matches('/')))
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Relative(text) | Self::Absolute(text) => text,
        }
    }
}

/// The parts of a path with slashes between them. Bytes that are not UTF-8 keep their value.
fn encoded(path: &Path) -> String {
    let mut out = String::new();
    for component in path.components() {
        let bytes = match component {
            // `components` has a `.` at the beginning only, where it says nothing.
            Component::RootDir | Component::CurDir => continue,
            Component::Prefix(prefix) => prefix.as_os_str().as_encoded_bytes(),
            Component::ParentDir => b"..",
            Component::Normal(name) => name.as_encoded_bytes(),
        };
        if !out.is_empty() || path.has_root() {
            out.push('/');
        }
        for byte in bytes {
            // The unreserved characters alone: a colon in a first part would otherwise make it a scheme.
            if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
                out.push(char::from(*byte));
            } else {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    if out.is_empty() && path.has_root() { "/".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, root: &str, expect: &str) {
        assert_eq!(Uri::of(Path::new(path), Path::new(root)).as_str(), expect, "{path} below {root}");
    }

    #[test]
    fn a_path_below_the_root_is_relative_to_it() {
        check("/project/a/SKILL.md", "/project", "a/SKILL.md");
        check("a/SKILL.md", "/project", "a/SKILL.md");
        check("./a/SKILL.md", "", "a/SKILL.md");
        check("../a", "/project", "../a");
        check("/project", "/project", ".");
    }

    #[test]
    fn a_path_elsewhere_is_absolute() {
        check("/other/SKILL.md", "/project", "file:///other/SKILL.md");
        check("/projects/SKILL.md", "/project", "file:///projects/SKILL.md");
        check("/", "/project", "file:///");
        assert_eq!(Uri::of_folder(Path::new("/a b/")).as_deref(), Some("file:///a%20b/"));
        assert_eq!(Uri::of_folder(Path::new("/")).as_deref(), Some("file:///"));
        assert_eq!(Uri::of_folder(Path::new("a")), None);
    }

    #[test]
    fn whatever_means_something_in_a_uri_is_encoded() {
        check("javascript:alert(1)", "", "javascript%3Aalert%281%29");
        check("a b/é#?%&\n.md", "", "a%20b/%C3%A9%23%3F%25%26%0A.md");
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_not_utf8_keep_their_value() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"caf\xe9"));
        assert_eq!(Uri::of(path, Path::new("")).as_str(), "caf%E9");
    }
}
