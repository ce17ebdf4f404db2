use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Folders below a root that are not looked at.
///
/// A pattern is matched against a folder's path relative to its root, the whole path and nothing else: `drafts` is the
/// folder `drafts` directly in the root, `**/drafts` one at any depth. `*` stays within one part, `**` crosses them. What
/// is below a matching folder is ignored with it, so a trailing `/` or `/**` changes nothing. Git's ignore files play no
/// part.
///
/// ```
/// use metier_files::Ignore;
///
/// let ignore = Ignore::new(["drafts/**", "**/*.bak"])?;
/// assert!(ignore.matches("drafts".as_ref()));
/// assert!(ignore.matches("team/old.bak".as_ref()));
/// assert!(!ignore.matches("team/drafts".as_ref()));
/// # Ok::<(), metier_files::IgnoreError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ignore(GlobSet);

/// A pattern that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern `{pattern}` cannot be read: {reason}")]
pub struct IgnoreError {
    /// The pattern as it was given.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Ignore {
    /// Reads the patterns.
    pub fn new<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Result<Self, IgnoreError> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let given = pattern.as_ref();
            let pattern = given.trim_start_matches("./");
            let pattern = pattern.strip_suffix("/**").unwrap_or(pattern).trim_end_matches('/');
            let failed = |error: globset::Error| IgnoreError {
                pattern: given.to_owned(),
                reason: error.kind().to_string(),
            };
            set.add(GlobBuilder::new(pattern).literal_separator(true).build().map_err(failed)?);
        }
        let failed = |error: globset::Error| IgnoreError {
            pattern: error.glob().unwrap_or_default().to_owned(),
            reason: error.kind().to_string(),
        };
        set.build().map(Self).map_err(failed)
    }

    /// Whether the folder at this path, relative to the root, is ignored.
    pub fn matches(&self, folder: &Path) -> bool {
        self.0.is_match(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_relative_paths() {
        let table: &[(&str, &str, bool)] = &[
            ("drafts", "drafts", true),
            ("drafts", "team/drafts", false),
            ("drafts", "drafts-2", false),
            ("**/drafts", "drafts", true),
            ("**/drafts", "a/b/drafts", true),
            ("drafts/", "drafts", true),
            ("drafts/**", "drafts", true),
            ("./drafts", "drafts", true),
            ("team/*", "team/a", true),
            ("team/*", "team", false),
            ("team/*", "team/a/b", false),
            ("*.bak", "old.bak", true),
            ("*.bak", "a/old.bak", false),
            ("{a,b}", "b", true),
            ("", "a", false),
        ];
        for (pattern, path, expected) in table {
            let ignore = Ignore::new([pattern]).unwrap();
            assert_eq!(ignore.matches(path.as_ref()), *expected, "{pattern:?} on {path:?}");
        }
    }

    #[test]
    fn a_broken_pattern_is_named() {
        let error = Ignore::new(["fine", "a[b"]).unwrap_err();
        assert_eq!(error.pattern, "a[b");
        assert_eq!(
            error.to_string(),
            "the pattern `a[b` cannot be read: unclosed character class; missing ']'"
        );
    }
}
