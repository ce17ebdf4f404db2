//! Which places of a writable project stay read-only: the one table.
//!
//! A script that may write to the project must not be able to leave something behind that runs later, outside, with all
//! of the user's rights: a git hook, an editor's task, an agent's instructions. Code that the project is built from runs
//! later too and cannot be on the list, since writing it is what the permission is for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::survey::pattern::fits;

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

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtectedRule {
    /// The end of the path, in lower case, with `*` for any piece of a name.
    pub pattern: &'static str,
    /// Whether it is protected where it is missing.
    pub missing: Missing,
    /// What it is, in words.
    pub what: &'static str,
}

/// What a row says of places where there is nothing yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Nothing may be made there, in the project's folder and in that of each repository below it: programs look there
    /// without being told.
    Protected,
    /// It may be made: a new one is used by nobody until the user does something for it.
    Open,
}

const fn always(pattern: &'static str, what: &'static str) -> ProtectedRule {
    ProtectedRule { pattern, missing: Missing::Protected, what }
}

const fn present(pattern: &'static str, what: &'static str) -> ProtectedRule {
    ProtectedRule { pattern, missing: Missing::Open, what }
}

const GIT: &str = "git runs or obeys it";
const AGENT: &str = "agents obey it";
const EDITOR: &str = "editors run it";
const SHELL: &str = "shells run it";
const HOOK: &str = "git hooks run it";
const BUILD: &str = "build services run it";

/// Every row; the gate's `GUARDED` in `metier-policy` has the same ones, which a test in `metier-runtime` holds. `.gitattributes` is not among them: it can only choose between filters that a configuration defines.
pub const PROTECTED: &[ProtectedRule] = &[
    always(".git/hooks", GIT),
    always(".git/config", GIT),
    always(".git/config.worktree", GIT),
    always(".git/commondir", GIT),
    always(".git/modules", GIT),
    always(".git/worktrees", GIT),
    always(".gitmodules", GIT),
    always(".husky", HOOK),
    always(".githooks", HOOK),
    always(".pre-commit-config.yaml", HOOK),
    present("lefthook.yml", HOOK),
    present("lefthook.yaml", HOOK),
    present(".lefthook.yml", HOOK),
    always(".metier", AGENT),
    always("metier.toml", AGENT),
    always(".claude", AGENT),
    always(".agents", AGENT),
    always(".codex", AGENT),
    always(".cursor", AGENT),
    always(".gemini", AGENT),
    always(".mcp.json", AGENT),
    always("claude.md", AGENT),
    always("claude.local.md", AGENT),
    always("agents.md", AGENT),
    always("gemini.md", AGENT),
    present(".windsurf", AGENT),
    present(".windsurfrules", AGENT),
    present(".cursorrules", AGENT),
    present(".clinerules", AGENT),
    present(".continue", AGENT),
    present(".opencode", AGENT),
    present("opencode.json", AGENT),
    present(".aider.conf.yml", AGENT),
    present(".github/copilot-instructions.md", AGENT),
    present("*.skilled_crew.yaml", AGENT),
    present("agents/skills", AGENT),
    present("agents/_config", AGENT),
    always(".vscode", EDITOR),
    always(".idea", EDITOR),
    always(".devcontainer", EDITOR),
    present(".devcontainer.json", EDITOR),
    present("*.code-workspace", EDITOR),
    present(".zed", EDITOR),
    present(".fleet", EDITOR),
    present(".exrc", EDITOR),
    present(".nvimrc", EDITOR),
    present(".nvim.lua", EDITOR),
    present(".dir-locals.el", EDITOR),
    always(".envrc", SHELL),
    present(".mise.toml", SHELL),
    present("mise.toml", SHELL),
    // No shell reads these from a project, but people keep them in one and link them into their home. The commonest are
    // not made either: a folder that becomes somebody's home, in a container or by a setting, has them read at once.
    always(".bashrc", SHELL),
    always(".bash_profile", SHELL),
    present(".bash_login", SHELL),
    present(".bash_logout", SHELL),
    present(".bash_aliases", SHELL),
    always(".profile", SHELL),
    always(".zshrc", SHELL),
    always(".zshenv", SHELL),
    always(".zprofile", SHELL),
    present(".zlogin", SHELL),
    present(".zlogout", SHELL),
    present(".kshrc", SHELL),
    present(".cshrc", SHELL),
    present(".tcshrc", SHELL),
    present(".inputrc", SHELL),
    present(".xinitrc", SHELL),
    present(".xprofile", SHELL),
    present(".config/fish", SHELL),
    present(".gitconfig", GIT),
    present(".config/git", GIT),
    present(".cargo/config.toml", "cargo obeys it"),
    present(".cargo/config", "cargo obeys it"),
    present(".ripgreprc", "ripgrep obeys it"),
    // These run with other people's secrets once they are pushed.
    always(".github/workflows", BUILD),
    present(".github/actions", BUILD),
    present(".gitlab-ci.yml", BUILD),
    present(".circleci", BUILD),
];

type Rows = Vec<&'static ProtectedRule>;

/// The rows by their last part, and those where it is no plain name: a walk asks for every name it meets.
static INDEX: LazyLock<(HashMap<&'static [u8], Rows>, Rows)> = LazyLock::new(|| {
    let (mut exact, mut other) = (HashMap::<_, Rows>::new(), Rows::new());
    for rule in PROTECTED {
        let last = rule.pattern.rsplit('/').next().unwrap_or_default();
        if last.contains('*') {
            other.push(rule);
        } else {
            exact.entry(last.as_bytes()).or_default().push(rule);
        }
    }
    (exact, other)
});

/// The row that `folder/name` fits.
pub(crate) fn rule_for(folder: &[u8], name: &[u8]) -> Option<&'static ProtectedRule> {
    let name = name.to_ascii_lowercase();
    let (exact, other) = &*INDEX;
    let mut rules = exact.get(name.as_slice()).into_iter().flatten().chain(other);
    rules.find(|rule| fits(rule.pattern, folder, &name)).copied()
}

/// Who runs or obeys what lies at a path, at whatever depth, in words; nobody, for most paths.
pub fn obeyed_by(path: &Path) -> Option<&'static str> {
    let folder = path.parent().map_or(&[][..], |folder| folder.as_os_str().as_encoded_bytes());
    rule_for(folder, path.file_name()?.as_encoded_bytes()).map(|rule| rule.what)
}

/// The protected place that a path is or lies in, at whatever depth, and who runs or obeys it.
pub fn protected_part(path: &Path) -> Option<(&Path, &'static str)> {
    let mut parts: Vec<&Path> = path.ancestors().collect();
    // The outermost first: that is what a message names.
    parts.reverse();
    parts.into_iter().find_map(|part| obeyed_by(part).map(|what| (part, what)))
}

/// What a folder of this name would hold at a protected place, though nothing is there yet: `.github` holds `workflows`.
pub fn may_hold_protected(folder: &Path) -> Option<&'static str> {
    let name = folder.file_name()?.as_encoded_bytes().to_ascii_lowercase();
    let above = folder.parent().map_or(&[][..], |above| above.as_os_str().as_encoded_bytes());
    let holds = |rule: &&ProtectedRule| {
        let outer = rule.pattern.rsplit_once('/').map(|(outer, _)| outer);
        outer.is_some_and(|outer| fits(outer, above, &name))
    };
    PROTECTED.iter().find(holds).map(|rule| rule.pattern)
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
        ] {
            check(path, false);
        }
    }

    #[test]
    fn every_row_is_in_lower_case_and_finds_itself() {
        for rule in PROTECTED {
            assert_eq!(rule.pattern, rule.pattern.to_ascii_lowercase());
            assert!(!rule.what.is_empty());
            check(&rule.pattern.replace('*', "x"), true);
        }
    }
}
