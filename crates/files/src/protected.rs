//! Which places of a writable project stay read-only: the rows of `metier-protected`, and what git's configuration names.

mod command_words;
mod git_config;
mod git_keys;
mod places;
mod repository;
mod tree;

pub use self::places::{NoChanges, Planned, PlannedChanges, ProtectedPlaces, UserPaths};
pub use self::repository::{completing_parts, is_obeyed_in, is_repository, maybe_repositories};
pub use metier_protected::{Missing, PROTECTED, ProtectedRule};

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::survey::pattern::{PatternIndex, fits};

/// A place that stays read-only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Protected {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// Whether it is there.
    pub presence: Presence,
    /// What it is, in words.
    pub what: &'static str,
}

/// What is at a protected place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Presence {
    /// A file or a folder.
    Existing,
    /// A link, which has to stay the link it is.
    Link,
    /// Nothing, and nothing may be made there: a hook that was not there yesterday runs just as well.
    Missing,
}

static INDEX: LazyLock<PatternIndex<ProtectedRule>> =
    LazyLock::new(|| PatternIndex::new(PROTECTED, |rule| rule.pattern));

/// A folder above the place of a row, as a pattern.
#[derive(Debug)]
struct Holder {
    pattern: &'static str,
}

/// Every folder above the place of a row: most changed paths are none.
static HOLDERS: LazyLock<PatternIndex<Holder>> = LazyLock::new(|| {
    static ALL: LazyLock<Vec<Holder>> = LazyLock::new(|| {
        let steps = |pattern: &'static str| pattern.match_indices('/').map(|(end, _)| &pattern[..end]);
        let mut all: Vec<&str> = PROTECTED.iter().flat_map(|rule| steps(rule.pattern)).collect();
        all.retain(|pattern| !pattern.is_empty());
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|pattern| Holder { pattern }).collect()
    });
    PatternIndex::new(&ALL, |holder| holder.pattern)
});

/// The row that `folder/name` fits.
pub(crate) fn rule_for(folder: &[u8], name: &[u8]) -> Option<&'static ProtectedRule> {
    let name = name.to_ascii_lowercase();
    INDEX.candidates(&name).find(|rule| fits(rule.pattern, folder, &name))
}

/// Who runs or obeys what lies at a path, at whatever depth, in words; nobody, for most paths. Of an absolute path it is not known
/// where the project begins, so a row that means the project's own folder means every folder there.
pub fn obeyed_by(path: &Path) -> Option<&'static str> {
    let folder = path.parent().map_or(&[][..], |folder| folder.as_os_str().as_encoded_bytes());
    let name = path.file_name()?.as_encoded_bytes().to_ascii_lowercase();
    let is_meant = |rule: &&ProtectedRule| {
        let pattern = if path.is_absolute() { rule.pattern.trim_start_matches('/') } else { rule.pattern };
        fits(pattern, folder, &name)
    };
    INDEX.candidates(&name).find(is_meant).map(|rule| rule.what)
}

/// The protected place that a path is or lies in, at whatever depth, and who runs or obeys it.
pub fn protected_part(path: &Path) -> Option<(&Path, &'static str)> {
    let mut parts: Vec<&Path> = path.ancestors().collect();
    // The outermost first: that is what a message names.
    parts.reverse();
    parts.into_iter().find_map(|part| obeyed_by(part).map(|what| (part, what)))
}

/// Whether a folder of this name would hold a protected place, though nothing is there yet: `.github` holds `workflows`.
pub fn may_hold_protected(folder: &Path) -> bool {
    let above = folder.parent().map_or(&[][..], |above| above.as_os_str().as_encoded_bytes());
    folder.file_name().is_some_and(|name| is_holder(above, name.as_encoded_bytes()))
}

/// The same for a folder `above/name`.
pub(crate) fn is_holder(above: &[u8], name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    HOLDERS.candidates(&name).any(|holder| fits(holder.pattern, above, &name))
}

/// What git keeps in its folder, or the folder's place.
pub(crate) const IN_GIT: &str = ".git/";

/// The name under which a rule's place is made where there is none. Programs that read `CLAUDE.md` read it in capitals.
pub(crate) fn missing_place(base: &Path, rule: &ProtectedRule) -> PathBuf {
    base.join(match rule.pattern {
        "claude.md" => "CLAUDE.md",
        "claude.local.md" => "CLAUDE.local.md",
        "agents.md" => "AGENTS.md",
        "gemini.md" => "GEMINI.md",
        pattern => pattern,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expect: bool) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        assert_eq!(rule_for(folder.as_bytes(), name.as_bytes()).is_some(), expect, "{path}");
    }

    #[test]
    fn places_are_known_at_any_depth_and_in_any_case() {
        for path in [
            ".git/hooks",
            "lib/.git/config",
            ".gitmodules",
            "CLAUDE.md",
            "docs/AGENTS.md",
            "AGENT.md",
            "web/codex.md",
            "replit.md",
            "firebender.json",
            ".vscode",
            "web/.VSCode",
            "metier.toml",
            ".mcp.json",
            ".envrc",
            ".bashrc",
            "a.code-workspace",
            "crew.skilled_crew.yaml",
            ".github/workflows",
            "workspace/agents/skills",
            ".husky",
            "agents/helper.md",
            "agents/mcp-servers.json",
            "workspace/agents/a.md",
            ".travis.yml",
            "ci/Jenkinsfile.release",
            "azure-pipelines-pr.yml",
            ".roo",
            ".kiro",
            ".amazonq",
            ".goosehints",
            ".lefthook.toml",
            ".gdbinit",
            ".vimrc",
            ".aider.conf.yml",
            ".hg/hgrc",
        ] {
            check(path, true);
        }
        for path in [
            "hooks",
            "config",
            ".git/objects",
            ".gitattributes",
            ".github",
            "workflows",
            "README.md",
            "agents",
            "skills",
            "docs/agents/overview.md",
            "agents/data.json",
            "Makefile",
            "package.json",
            "conftest.py",
            "vimrc.md",
            "docs/jenkins.md",
            "docs/my-agent.md",
            "src/rules.rs",
        ] {
            check(path, false);
        }
    }

    #[test]
    fn a_new_file_is_known_by_its_whole_path() {
        for (path, expect) in [
            ("/p/agents/a.md", Some("agents obey it")),
            ("/p/.roo", Some("agents obey it")),
            ("agents/a.md", Some("agents obey it")),
            ("docs/agents/a.md", None),
            ("/p/src/main.rs", None),
        ] {
            assert_eq!(obeyed_by(Path::new(path)), expect, "{path}");
        }
    }

    #[test]
    fn every_row_is_in_lower_case_and_finds_itself() {
        for rule in PROTECTED {
            assert_eq!(rule.pattern, rule.pattern.to_ascii_lowercase());
            assert!(!rule.what.is_empty());
            check(rule.pattern.replace('*', "x").trim_start_matches('/'), true);
        }
    }
}
