//! Which files a list of patterns is about.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Files by patterns, as people write them: `src/**/*.ts` from the project's folder, `*.py` and `Makefile` anywhere, `docs` and
/// `docs/` with everything below.
///
/// ```
/// use metier_files::FileGlobs;
///
/// let globs = FileGlobs::new(["*.py", "docs/"]);
/// assert!(globs.matches("src/app.py".as_ref()));
/// assert!(globs.matches("docs/a/b.md".as_ref()));
/// assert!(!globs.matches("README.md".as_ref()));
/// ```
#[derive(Clone, Debug)]
pub struct FileGlobs(GlobSet);

impl FileGlobs {
    /// Reads the patterns. One that cannot be read matches nothing.
    pub fn new<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Self {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let pattern = pattern.as_ref().trim();
            let pattern = pattern.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
            let anywhere = if pattern.contains('/') { "" } else { "**/" };
            for end in ["", "/**"] {
                let pattern = format!("{anywhere}{pattern}{end}");
                let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
                if let (false, Ok(glob)) = (pattern.is_empty(), glob) {
                    set.add(glob);
                }
            }
        }
        Self(set.build().unwrap_or_default())
    }

    /// Whether the file at this path, seen from the project's folder, is among them.
    pub fn matches(&self, file: &Path) -> bool {
        self.0.is_match(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_as_people_write_them() {
        let table: &[(&str, &str, bool)] = &[
            ("**/*.py", "a.py", true),
            ("**/*.py", "src/a.py", true),
            ("*.py", "src/a.py", true),
            ("src/**/*.ts", "src/a/b.ts", true),
            ("src/**/*.ts", "lib/b.ts", false),
            ("src/*.ts", "src/a/b.ts", false),
            ("./src/*.ts", "src/b.ts", true),
            ("/docs/", "docs/a/b.md", true),
            ("src/docs", "src/docs/b.md", true),
            ("Makefile", "sub/Makefile", true),
            ("*.{js,ts}", "x.ts", true),
            ("a[b", "a[b", false),
            ("*.py", "a.pyc", false),
        ];
        for (pattern, file, expected) in table {
            let globs = FileGlobs::new([pattern]);
            assert_eq!(globs.matches(file.as_ref()), *expected, "{pattern:?} on {file:?}");
        }
    }
}
