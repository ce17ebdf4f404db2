//! Protected places: what acts later, without being called.
//!
//! A row is for what runs, or tells a program what to run, by merely entering or opening the project, committing, pushing, or
//! starting an agent, an editor, a debugger, a package manager or a console in it. What runs because the project is built or
//! tested is its code: `Makefile`, `package.json`, `conftest.py` and `sitecustomize.py` have no row, since writing code is what a
//! permission to write is for. `.gitattributes` has none either: it chooses between filters that a configuration defines, and every
//! configuration that git reads in a project is protected.

mod git;

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Each row is one step of a path or several, in lower case, with one `*` in a step for anything; with a `/` before it, seen from
/// the project alone. What lies below is meant, too. Files of a git folder have a table of their own in `git`.
///
/// `PROTECTED` in `metier-files` is the same list as the sandbox needs it; a test in `metier-runtime`, which sees both, holds
/// them together.
pub const GUARDED: &[&str] = &[
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

/// A row, split once: ten thousand paths are held against the table when a build is over.
struct Row {
    steps: Vec<&'static str>,
    is_anchored: bool,
}

/// The rows by the first byte of their first step: hardly a step of a path begins like a row.
static ROWS: LazyLock<BTreeMap<u8, Vec<Row>>> = LazyLock::new(|| {
    let mut rows: BTreeMap<u8, Vec<Row>> = BTreeMap::new();
    for place in GUARDED {
        let (place, is_anchored) = place.strip_prefix('/').map_or((*place, false), |place| (place, true));
        let row = Row { steps: place.split('/').collect(), is_anchored };
        rows.entry(first_byte(place)).or_default().push(row);
    }
    rows
});

fn first_byte(text: &str) -> u8 {
    text.bytes().next().unwrap_or_default().to_ascii_lowercase()
}

/// Whether a path is one of the places that may be written only with a yes to this very question. A path that ends in `.git` is
/// taken for a file, which sends git to another folder; see [`super::Place::folder`].
///
/// Names are compared without case, since some file systems do not tell them apart.
pub fn is_guarded(path: &str) -> bool {
    is_git_file(path) || is_listed(path)
}

/// The same but for a path that ends in `.git`.
pub(super) fn is_listed(path: &str) -> bool {
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    let is_relative = !path.starts_with(['/', '~']);
    let begins_row = |at: usize| {
        let rest = &steps[at..];
        let is_row = |row: &Row| {
            (!row.is_anchored || is_relative && at == 0)
                && rest.len() >= row.steps.len()
                && rest.iter().zip(&row.steps).all(|(step, wanted)| is_step(step, wanted))
        };
        // A row that begins with a star is for steps that begin with anything.
        [first_byte(rest[0]), b'*'].iter().filter_map(|byte| ROWS.get(byte)).flatten().any(is_row)
    };
    git::is_control(&steps) || (0..steps.len()).any(begins_row)
}

/// Whether the last step is `.git`.
pub(super) fn is_git_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(git::is_git)
}

/// Whether a step of a path is the one that is wanted, which may have one `*`.
fn is_step(step: &str, wanted: &str) -> bool {
    let Some((start, end)) = wanted.split_once('*') else { return step.eq_ignore_ascii_case(wanted) };
    let is = |part: Option<&str>, wanted: &str| part.is_some_and(|part| part.eq_ignore_ascii_case(wanted));
    let at = step.len().checked_sub(end.len()).filter(|at| *at >= start.len());
    at.is_some_and(|at| is(step.get(..start.len()), start) && is(step.get(at..), end))
}
