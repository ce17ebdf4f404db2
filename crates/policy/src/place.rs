//! A file by every name that rules may use for it.

use std::fmt;

/// A place in the file system, cleaned of `.`, `..` and double slashes, by all of its names.
///
/// A rule may say `docs/**`, `~/notes/**` or `/srv/project/docs/**` and mean the same file, and a deny rule that is
/// passed by because the caller spelled a path the other way is no deny rule. So the caller gives the path once and
/// says from which folders it can be seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The name shown to people.
    shown: String,
    /// Every name, the shown one first.
    names: Vec<String>,
    guarded: bool,
}

impl Place {
    /// A path, relative to the folder that rules are seen from (the project, or the skill for its own files) or absolute.
    pub fn new(path: &str) -> Self {
        let path = clean(path);
        let guarded = is_guarded(&path);
        Self { names: vec![path.clone()], shown: path, guarded }
    }

    /// The same place with a second name, where it lies below `folder`: `below("/srv/project", "")` gives the name
    /// relative to the project, `below("/home/ada", "~/")` the name with a tilde. The new name is the shown one.
    #[must_use]
    pub fn below(mut self, folder: &str, prefix: &str) -> Self {
        let folder = clean(folder);
        let rest = self.names.iter().find_map(|name| {
            let rest = name.strip_prefix(folder.as_str())?;
            rest.strip_prefix('/').filter(|rest| !rest.is_empty()).map(str::to_owned)
        });
        if let Some(rest) = rest {
            let name = format!("{prefix}{rest}");
            self.guarded |= is_guarded(&name);
            self.shown.clone_from(&name);
            self.names.insert(0, name);
        }
        self
    }

    /// The same place, to be written only with a yes to this very question: a skill's folder, metier's configuration.
    /// The usual places of that kind (see [`is_guarded`]) are known without it.
    #[must_use]
    pub fn guarded(mut self) -> Self {
        self.guarded = true;
        self
    }

    /// Whether writing here takes a yes to this very question, whatever mode and rules say.
    pub fn is_guarded(&self) -> bool {
        self.guarded
    }

    /// Whether it lies below the folder that rules are seen from.
    pub fn is_inside(&self) -> bool {
        !self.shown.starts_with(['/', '~']) && self.shown != ".." && !self.shown.starts_with("../")
    }

    /// Every name, the shown one first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The name shown to people.
    pub fn as_str(&self) -> &str {
        &self.shown
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// A path without empty steps, `.` and, as far as it can be said without looking, `..`.
pub(crate) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => match steps.last() {
                Some(last) if *last != ".." => drop(steps.pop()),
                // Above the root is the root; above a relative path is outside and stays visible as such.
                _ if rooted => {}
                _ => steps.push(".."),
            },
            step => steps.push(step),
        }
    }
    let joined = steps.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// Places that act when nobody looks: whoever can write them can make something run later, or widen what may run. Each is
/// one step of a path or several, in lower case, with one `*` in a step for anything; with a `/` before it, seen from the project
/// alone. What lies below is meant, too.
///
/// `PROTECTED` in `metier-files` is the same list as the sandbox needs it; a test in `metier-runtime`, which sees both, holds
/// them together.
pub const GUARDED: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/modules",
    ".git/worktrees",
    ".gitmodules",
    ".husky",
    ".githooks",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".metier",
    "metier.toml",
    ".claude",
    ".agents",
    ".codex",
    ".cursor",
    ".gemini",
    ".mcp.json",
    "claude.md",
    "claude.local.md",
    "agents.md",
    "gemini.md",
    ".windsurf",
    ".windsurfrules",
    ".cursorrules",
    ".clinerules",
    ".continue",
    ".opencode",
    "opencode.json",
    ".aider.conf.yml",
    ".github/copilot-instructions.md",
    "*.skilled_crew.yaml",
    "agents/skills",
    "agents/_config",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".devcontainer.json",
    "*.code-workspace",
    ".zed",
    ".fleet",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".dir-locals.el",
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".inputrc",
    ".xinitrc",
    ".xprofile",
    ".config/fish",
    ".gitconfig",
    ".config/git",
    ".cargo/config.toml",
    ".cargo/config",
    ".ripgreprc",
    ".github/workflows",
    ".github/actions",
    ".gitlab-ci.yml",
    ".circleci",
    ".pre-commit-config.yml",
    "prek.toml",
    ".lefthook.yaml",
    "lefthook.toml",
    ".lefthook.toml",
    "lefthook.json",
    ".lefthook.json",
    "lefthook-local.*",
    ".lefthook-local.*",
    ".lefthook",
    ".git-hooks",
    ".huskyrc*",
    ".lintstagedrc*",
    "lint-staged.config.*",
    ".simple-git-hooks.*",
    "simple-git-hooks.*",
    ".overcommit.yml",
    "captainhook.json",
    "grumphp.yml",
    ".rusty-hook.toml",
    "/agents/*.md",
    "/agents/mcp-servers.json",
    "/workspace/agents/*.md",
    "/workspace/agents/mcp-servers.json",
    ".roo",
    ".roorules*",
    ".roomodes",
    ".kiro",
    ".amazonq",
    ".goose",
    ".goosehints",
    ".cline",
    ".kilocode",
    ".kilocodemodes",
    ".kilocoderules",
    ".augment",
    ".augment-guidelines",
    ".junie",
    ".trae",
    ".qodo",
    ".tabnine",
    ".continuerules",
    ".continuerc.json",
    "opencode.jsonc",
    ".crush",
    ".crush.json",
    "crush.json",
    "crush.md",
    ".openhands",
    ".openhands_instructions",
    ".devin",
    ".factory",
    ".warp",
    "warp.md",
    ".rules",
    ".copilot",
    ".github/instructions",
    ".github/prompts",
    ".github/chatmodes",
    ".github/agents",
    ".github/skills",
    ".github/hooks",
    ".qwen",
    "qwen.md",
    ".iflow",
    "iflow.md",
    ".codebuddy",
    "codebuddy.md",
    ".agent",
    "agents.override.md",
    "agents.local.md",
    ".aider*",
    ".aiassistant",
    ".ruler",
    ".rulesync",
    ".rovodev",
    ".vibe",
    ".grok",
    ".firebender",
    ".zencoder",
    ".cursorignore",
    ".claude.json",
    ".vimrc",
    "_vimrc",
    ".gvimrc",
    ".ideavimrc",
    ".lvimrc",
    ".vim",
    ".nvim",
    ".dir-locals-2.el",
    ".emacs",
    ".emacs.d",
    ".helix",
    ".kakrc",
    ".nova",
    ".vs",
    "*.sublime-project",
    ".gitpod.yml",
    ".gitpod.dockerfile",
    "devfile.yaml",
    ".devfile.yaml",
    ".codesandbox",
    ".stackblitzrc",
    ".idx",
    ".replit",
    ".bsp",
    "rust-analyzer.toml",
    ".rust-analyzer.toml",
    ".luarc.json",
    ".gdbinit",
    ".lldbinit",
    ".pdbrc",
    ".pdbrc.py",
    ".irbrc",
    ".pryrc",
    ".rprofile",
    ".octaverc",
    ".ghci",
    ".ocamlinit",
    ".iex.exs",
    ".erlang",
    ".pythonrc",
    ".pythonrc.py",
    ".psqlrc",
    ".sqliterc",
    ".mise",
    ".mise.local.toml",
    "mise.local.toml",
    ".config/mise",
    ".config/mise.toml",
    ".rtx.toml",
    ".autoenv",
    ".autoenv.zsh",
    ".login",
    ".logout",
    ".xsession",
    ".xsessionrc",
    ".config/autostart",
    ".config/systemd",
    ".tmux.conf",
    ".screenrc",
    ".hg/hgrc",
    ".jj/repo/config.toml",
    ".sl/config",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "bunfig.toml",
    ".gitlab-ci.yaml",
    ".gitlab-ci",
    ".gitlab/ci",
    ".gitea/workflows",
    ".forgejo/workflows",
    "circle.yml",
    ".travis.yml",
    ".travis.yaml",
    "azure-pipelines*.yml",
    "azure-pipelines*.yaml",
    ".azure-pipelines",
    "jenkinsfile*",
    ".drone.*",
    ".woodpecker",
    ".woodpecker.yml",
    ".woodpecker.yaml",
    ".buildkite",
    "appveyor.yml",
    ".appveyor.yml",
    "bitbucket-pipelines.yml",
    ".teamcity",
    ".cirrus.*",
    ".semaphore",
    ".tekton",
    ".dagger",
    "dagger.json",
    ".build.yml",
    ".builds",
    "wercker.yml",
    "codemagic.yaml",
    "bitrise.yml",
    "cloudbuild.yaml",
    "cloudbuild.yml",
    "buildspec.yml",
    "buildspec.yaml",
    "codeship-*.yml",
    ".scrutinizer.yml",
    "shippable.yml",
    ".harness",
    ".vela.yml",
    ".zuul.yaml",
    ".zuul.d",
    "zuul.yaml",
    "zuul.d",
    ".codefresh",
    "codefresh.yml",
    ".rultor.yml",
    ".sourcehut.yml",
    // From here on places that the sandbox needs no row for: it knows skills by their folders, hides secrets, and shows nothing
    // of the home.
    "skill.md",
    "mcp.json",
    ".npmrc",
    "config.fish",
    ".config/metier",
    ".ssh",
];

/// Whether a path is one of the places that may be written only with a yes to this very question.
///
/// Names are compared without case, since some file systems do not tell them apart.
pub fn is_guarded(path: &str) -> bool {
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    let is_relative = !path.starts_with(['/', '~']);
    GUARDED.iter().any(|place| {
        let (place, is_anchored) = place.strip_prefix('/').map_or((*place, false), |place| (place, true));
        let wanted: Vec<&str> = place.split('/').collect();
        let mut runs = steps.windows(wanted.len()).take(if is_anchored { 1 } else { usize::MAX });
        (is_relative || !is_anchored)
            && runs.any(|run| run.iter().zip(&wanted).all(|(step, wanted)| is_step(step, wanted)))
    })
}

/// Whether a step of a path is the one that is wanted, which may have one `*`.
fn is_step(step: &str, wanted: &str) -> bool {
    let Some((start, end)) = wanted.split_once('*') else { return step.eq_ignore_ascii_case(wanted) };
    let is = |part: Option<&str>, wanted: &str| part.is_some_and(|part| part.eq_ignore_ascii_case(wanted));
    let at = step.len().checked_sub(end.len()).filter(|at| *at >= start.len());
    at.is_some_and(|at| is(step.get(..start.len()), start) && is(step.get(at..), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cleaned_without_looking() {
        for (path, expect) in [
            ("docs/a.md", "docs/a.md"),
            ("./docs//a.md", "docs/a.md"),
            ("docs/../.env", ".env"),
            ("docs/../../x", "../x"),
            ("/a/../../etc/passwd", "/etc/passwd"),
            ("", "."),
            ("/", "/"),
            ("a/.", "a"),
        ] {
            assert_eq!(clean(path), expect, "{path}");
        }
    }

    #[test]
    fn a_place_has_a_name_from_each_folder_it_is_seen_from() {
        let place =
            Place::new("/home/ada/code/docs/a.md").below("/home/ada", "~/").below("/home/ada/code/", "");
        assert_eq!(place.as_str(), "docs/a.md");
        let names: Vec<_> = place.names().collect();
        assert_eq!(names, ["docs/a.md", "~/code/docs/a.md", "/home/ada/code/docs/a.md"]);
        let beside = Place::new("/home/ada/codeshop/a").below("/home/ada/code", "");
        assert_eq!(beside.as_str(), "/home/ada/codeshop/a");
    }

    #[test]
    fn places_that_act_later_are_guarded() {
        for path in [
            ".mcp.json",
            "sub/.git/hooks/pre-commit",
            ".GIT/hooks/x",
            "~/.bashrc",
            ".claude/settings.json",
            "skills/pdf/SKILL.md",
            "metier.toml",
            ".git/config",
            ".github/workflows/ci.yml",
            "work.code-workspace",
            "grüße.code-workspace",
            "GEMINI.md",
            "~/.config/fish/config.fish",
            "agents/helper.md",
            "Agents/Helper.MD",
            "workspace/agents/mcp-servers.json",
            "Jenkinsfile.release",
            ".aider.model.settings.yml",
        ] {
            assert!(Place::new(path).is_guarded(), "{path}");
        }
        for path in [
            "docs/a.md",
            ".git/index",
            "hooks/x",
            "src/claude/a.rs",
            "SKILL.md.bak",
            ".github/a",
            "ü",
            "docs/agents/a.md",
        ] {
            assert!(!Place::new(path).is_guarded(), "{path}");
        }
        assert!(Place::new("x").guarded().is_guarded());
        assert!(Place::new("/p/.git/hooks/x").below("/p/.git/hooks", "").is_guarded());
    }
}
