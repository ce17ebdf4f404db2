//! Which places of a writable project stay read-only: the one table.
//!
//! A script that may write to the project must not be able to leave something behind that runs later, outside, with all
//! of the user's rights: a git hook, an editor's task, an agent's instructions. Code that the project is built from runs
//! later too and cannot be on the list, since writing it is what the permission is for.
//!
//! The line between the two: a row is for what runs by merely entering or opening the project, committing, pushing, or starting an
//! agent, an editor, a debugger or a console in it. What runs because somebody builds or tests the project is its code, so
//! `Makefile`, `package.json`, `conftest.py`, `sitecustomize.py` and `eslint.config.js` have none.

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

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtectedRule {
    /// The end of the path, in lower case, with `*` for any piece of a name. With a `/` at its beginning it is the whole path,
    /// seen from the project.
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
const CONSOLE: &str = "debuggers and consoles run it";
const PACKAGES: &str = "package managers run what it names";

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
    present(".pre-commit-config.yml", HOOK),
    present("prek.toml", HOOK),
    present(".lefthook.yaml", HOOK),
    present("lefthook.toml", HOOK),
    present(".lefthook.toml", HOOK),
    present("lefthook.json", HOOK),
    present(".lefthook.json", HOOK),
    present("lefthook-local.*", HOOK),
    present(".lefthook-local.*", HOOK),
    present(".lefthook", HOOK),
    present(".git-hooks", HOOK),
    present(".huskyrc*", HOOK),
    present(".lintstagedrc*", HOOK),
    present("lint-staged.config.*", HOOK),
    present(".simple-git-hooks.*", HOOK),
    present("simple-git-hooks.*", HOOK),
    present(".overcommit.yml", HOOK),
    present("captainhook.json", HOOK),
    present("grumphp.yml", HOOK),
    present(".rusty-hook.toml", HOOK),
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
    // The files of further clients, and metier's own in the places that it shares with agentmd.
    present("/agents/*.md", AGENT),
    present("/agents/mcp-servers.json", AGENT),
    present("/workspace/agents/*.md", AGENT),
    present("/workspace/agents/mcp-servers.json", AGENT),
    present(".roo", AGENT),
    present(".roorules*", AGENT),
    present(".roomodes", AGENT),
    present(".kiro", AGENT),
    present(".amazonq", AGENT),
    present(".goose", AGENT),
    present(".goosehints", AGENT),
    present(".cline", AGENT),
    present(".kilocode", AGENT),
    present(".kilocodemodes", AGENT),
    present(".kilocoderules", AGENT),
    present(".augment", AGENT),
    present(".augment-guidelines", AGENT),
    present(".junie", AGENT),
    present(".trae", AGENT),
    present(".qodo", AGENT),
    present(".tabnine", AGENT),
    present(".continuerules", AGENT),
    present(".continuerc.json", AGENT),
    present("opencode.jsonc", AGENT),
    present(".crush", AGENT),
    present(".crush.json", AGENT),
    present("crush.json", AGENT),
    present("crush.md", AGENT),
    present(".openhands", AGENT),
    present(".openhands_instructions", AGENT),
    present(".devin", AGENT),
    present(".factory", AGENT),
    present(".warp", AGENT),
    present("warp.md", AGENT),
    present(".rules", AGENT),
    present(".copilot", AGENT),
    present(".github/instructions", AGENT),
    present(".github/prompts", AGENT),
    present(".github/chatmodes", AGENT),
    present(".github/agents", AGENT),
    present(".github/skills", AGENT),
    present(".github/hooks", AGENT),
    present(".qwen", AGENT),
    present("qwen.md", AGENT),
    present(".iflow", AGENT),
    present("iflow.md", AGENT),
    present(".codebuddy", AGENT),
    present("codebuddy.md", AGENT),
    present(".agent", AGENT),
    present("agents.override.md", AGENT),
    present("agents.local.md", AGENT),
    present(".aider*", AGENT),
    present(".aiassistant", AGENT),
    present(".ruler", AGENT),
    present(".rulesync", AGENT),
    present(".rovodev", AGENT),
    present(".vibe", AGENT),
    present(".grok", AGENT),
    present(".firebender", AGENT),
    present(".zencoder", AGENT),
    present(".cursorignore", AGENT),
    present(".claude.json", AGENT),
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
    present(".vimrc", EDITOR),
    present("_vimrc", EDITOR),
    present(".gvimrc", EDITOR),
    present(".ideavimrc", EDITOR),
    present(".lvimrc", EDITOR),
    present(".vim", EDITOR),
    present(".nvim", EDITOR),
    present(".dir-locals-2.el", EDITOR),
    present(".emacs", EDITOR),
    present(".emacs.d", EDITOR),
    present(".helix", EDITOR),
    present(".kakrc", EDITOR),
    present(".nova", EDITOR),
    present(".vs", EDITOR),
    present("*.sublime-project", EDITOR),
    present(".gitpod.yml", EDITOR),
    present(".gitpod.dockerfile", EDITOR),
    present("devfile.yaml", EDITOR),
    present(".devfile.yaml", EDITOR),
    present(".codesandbox", EDITOR),
    present(".stackblitzrc", EDITOR),
    present(".idx", EDITOR),
    present(".replit", EDITOR),
    present(".bsp", EDITOR),
    present("rust-analyzer.toml", EDITOR),
    present(".rust-analyzer.toml", EDITOR),
    present(".luarc.json", EDITOR),
    // Consoles and debuggers run these when they are started in the folder.
    present(".gdbinit", CONSOLE),
    present(".lldbinit", CONSOLE),
    present(".pdbrc", CONSOLE),
    present(".pdbrc.py", CONSOLE),
    present(".irbrc", CONSOLE),
    present(".pryrc", CONSOLE),
    present(".rprofile", CONSOLE),
    present(".octaverc", CONSOLE),
    present(".ghci", CONSOLE),
    present(".ocamlinit", CONSOLE),
    present(".iex.exs", CONSOLE),
    present(".erlang", CONSOLE),
    present(".pythonrc", CONSOLE),
    present(".pythonrc.py", CONSOLE),
    present(".psqlrc", CONSOLE),
    present(".sqliterc", CONSOLE),
    always(".envrc", SHELL),
    present(".mise.toml", SHELL),
    present("mise.toml", SHELL),
    present(".mise", SHELL),
    present(".mise.local.toml", SHELL),
    present("mise.local.toml", SHELL),
    present(".config/mise", SHELL),
    present(".config/mise.toml", SHELL),
    present(".rtx.toml", SHELL),
    present(".autoenv", SHELL),
    present(".autoenv.zsh", SHELL),
    present(".login", SHELL),
    present(".logout", SHELL),
    present(".xsession", SHELL),
    present(".xsessionrc", SHELL),
    present(".config/autostart", SHELL),
    present(".config/systemd", SHELL),
    present(".tmux.conf", SHELL),
    present(".screenrc", SHELL),
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
    present(".hg/hgrc", GIT),
    present(".jj/repo/config.toml", GIT),
    present(".sl/config", GIT),
    present(".ripgreprc", "ripgrep obeys it"),
    present(".yarnrc", PACKAGES),
    present(".yarnrc.yml", PACKAGES),
    present(".pnpmfile.cjs", PACKAGES),
    present("bunfig.toml", PACKAGES),
    // These run with other people's secrets once they are pushed.
    always(".github/workflows", BUILD),
    present(".github/actions", BUILD),
    present(".gitlab-ci.yml", BUILD),
    present(".circleci", BUILD),
    present(".gitlab-ci.yaml", BUILD),
    present(".gitlab-ci", BUILD),
    present(".gitlab/ci", BUILD),
    present(".gitea/workflows", BUILD),
    present(".forgejo/workflows", BUILD),
    present("circle.yml", BUILD),
    present(".travis.yml", BUILD),
    present(".travis.yaml", BUILD),
    present("azure-pipelines*.yml", BUILD),
    present("azure-pipelines*.yaml", BUILD),
    present(".azure-pipelines", BUILD),
    present("jenkinsfile*", BUILD),
    present(".drone.*", BUILD),
    present(".woodpecker", BUILD),
    present(".woodpecker.yml", BUILD),
    present(".woodpecker.yaml", BUILD),
    present(".buildkite", BUILD),
    present("appveyor.yml", BUILD),
    present(".appveyor.yml", BUILD),
    present("bitbucket-pipelines.yml", BUILD),
    present(".teamcity", BUILD),
    present(".cirrus.*", BUILD),
    present(".semaphore", BUILD),
    present(".tekton", BUILD),
    present(".dagger", BUILD),
    present("dagger.json", BUILD),
    present(".build.yml", BUILD),
    present(".builds", BUILD),
    present("wercker.yml", BUILD),
    present("codemagic.yaml", BUILD),
    present("bitrise.yml", BUILD),
    present("cloudbuild.yaml", BUILD),
    present("cloudbuild.yml", BUILD),
    present("buildspec.yml", BUILD),
    present("buildspec.yaml", BUILD),
    present("codeship-*.yml", BUILD),
    present(".scrutinizer.yml", BUILD),
    present("shippable.yml", BUILD),
    present(".harness", BUILD),
    present(".vela.yml", BUILD),
    present(".zuul.yaml", BUILD),
    present(".zuul.d", BUILD),
    present("zuul.yaml", BUILD),
    present("zuul.d", BUILD),
    present(".codefresh", BUILD),
    present("codefresh.yml", BUILD),
    present(".rultor.yml", BUILD),
    present(".sourcehut.yml", BUILD),
];

static INDEX: LazyLock<PatternIndex<ProtectedRule>> =
    LazyLock::new(|| PatternIndex::new(PROTECTED, |rule| rule.pattern));

/// The same rows by the folder that holds the place: a changed file is held against them, and most fit none.
static HOLDERS: LazyLock<PatternIndex<ProtectedRule>> =
    LazyLock::new(|| PatternIndex::new(PROTECTED, holder));

/// The folder that holds the place of a row, as a pattern. Empty, which no folder fits, where the row has one step.
fn holder(rule: &ProtectedRule) -> &'static str {
    rule.pattern.rsplit_once('/').map_or("", |(folder, _)| folder)
}

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

/// What a folder of this name would hold at a protected place, though nothing is there yet: `.github` holds `workflows`.
pub fn may_hold_protected(folder: &Path) -> Option<&'static str> {
    let name = folder.file_name()?.as_encoded_bytes().to_ascii_lowercase();
    let above = folder.parent().map_or(&[][..], |above| above.as_os_str().as_encoded_bytes());
    HOLDERS.candidates(&name).find(|rule| fits(holder(rule), above, &name)).map(|rule| rule.pattern)
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
            "src/rules.rs",
        ] {
            check(path, false);
        }
    }

    #[test]
    fn a_new_file_is_known_by_its_whole_path() {
        for (path, expect) in [
            ("/p/agents/a.md", Some(AGENT)),
            ("/p/.roo", Some(AGENT)),
            ("agents/a.md", Some(AGENT)),
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
