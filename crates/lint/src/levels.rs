//! What a project thinks of the rules: which it allows, and which it denies, everywhere or below a path.

use globset::{GlobBuilder, GlobMatcher};
use metier_diagnostic::{Diagnostic, Severity};
use std::collections::HashMap;
use std::path::Path;

/// How a rule is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It is not reported.
    Allow,
    /// It is a warning.
    Warn,
    /// It is an error.
    Deny,
}

impl Level {
    /// A finding as the level takes it; `None` when it is allowed. The reason why a file is no skill at all cannot be
    /// allowed: the file would be left out without a word.
    pub fn apply(self, finding: Diagnostic) -> Option<Diagnostic> {
        match self {
            Self::Allow if metier_skill::code::REFUSALS.contains(&finding.code) => Some(finding),
            Self::Allow => None,
            Self::Warn => Some(finding.with_severity(Severity::Warning)),
            Self::Deny => Some(finding.with_severity(Severity::Error)),
        }
    }
}

/// The levels in force. What is said later counts before what was said earlier, and what is said for a path before
/// what is said for all.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    everywhere: HashMap<String, Level>,
    below: Vec<(GlobMatcher, HashMap<String, Level>)>,
}

/// A glob that is none.
#[derive(Debug, thiserror::Error)]
#[error("`{glob}` is not a glob: {why}")]
pub struct BadGlob {
    glob: String,
    why: String,
}

impl Levels {
    /// Sets the level of a code for all files.
    pub fn set(&mut self, code: &str, level: Level) {
        self.everywhere.insert(code.to_owned(), level);
    }

    /// Sets levels for the files that a glob matches, seen from the folder of the configuration. `vendor` and `vendor/`
    /// mean all that is below it.
    pub fn set_below<'c>(
        &mut self,
        glob: &str,
        levels: impl IntoIterator<Item = (&'c str, Level)>,
    ) -> Result<(), BadGlob> {
        let bad = |error: globset::Error| BadGlob { glob: glob.to_owned(), why: error.kind().to_string() };
        let trimmed = glob.strip_prefix("./").unwrap_or(glob).trim_end_matches('/');
        let levels: HashMap<String, Level> =
            levels.into_iter().map(|(code, level)| (code.to_owned(), level)).collect();
        for pattern in [trimmed.to_owned(), format!("{trimmed}/**")] {
            let matcher = GlobBuilder::new(&pattern).literal_separator(true).build().map_err(bad)?;
            self.below.push((matcher.compile_matcher(), levels.clone()));
        }
        Ok(())
    }

    /// The codes that are named anywhere, so that a name nobody knows can be reported.
    pub fn codes(&self) -> impl Iterator<Item = &str> {
        let below = self.below.iter().flat_map(|(_, levels)| levels.keys());
        self.everywhere.keys().chain(below).map(String::as_str)
    }

    /// What holds for a code in a file.
    pub fn of(&self, code: &str, path: &Path) -> Option<Level> {
        let mut below = self.below.iter().rev().filter(|(glob, _)| glob.is_match(path));
        below.find_map(|(_, levels)| levels.get(code)).or(self.everywhere.get(code)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_counts_before_all_and_the_later_before_the_earlier() {
        let mut levels = Levels::default();
        levels.set("a", Level::Deny);
        levels.set_below("vendor", [("a", Level::Allow), ("b", Level::Warn)]).unwrap();
        levels.set_below("vendor/ours/*", [("a", Level::Warn)]).unwrap();
        let check = |code: &str, path: &str, expect: Option<Level>| {
            assert_eq!(levels.of(code, Path::new(path)), expect, "{code} {path}");
        };
        check("a", "x/SKILL.md", Some(Level::Deny));
        check("a", "vendor/x/SKILL.md", Some(Level::Allow));
        check("b", "vendor/x/SKILL.md", Some(Level::Warn));
        check("a", "vendor/ours/x/SKILL.md", Some(Level::Warn));
        check("b", "x/SKILL.md", None);
        check("a", "vendors/x/SKILL.md", Some(Level::Deny));
    }

    #[test]
    fn a_refusal_cannot_be_allowed() {
        let refusal = Diagnostic::new(&metier_skill::code::NOT_TEXT, "this is RTF");
        assert!(Level::Allow.apply(refusal).is_some());
        let other = Diagnostic::new(&metier_skill::code::UNKNOWN_KEY, "x");
        assert_eq!(Level::Allow.apply(other.clone()), None);
        assert_eq!(Level::Deny.apply(other).map(|found| found.severity()), Some(Severity::Error));
    }
}
