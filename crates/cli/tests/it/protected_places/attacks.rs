//! Ways to leave something in a project that runs or is obeyed later.

mod programs;
mod repositories;

pub(super) use self::programs::OTHERS;
pub(super) use self::repositories::GIT;

/// One attack.
pub(super) struct Attack {
    /// The name in messages.
    pub(super) name: &'static str,
    /// Shell lines that run in the project, contained.
    pub(super) line: &'static str,
    /// What the attack changes that is protected, seen from the project. Each has to be reported and left as it was.
    pub(super) protected: &'static [&'static str],
}

pub(super) const fn attack(
    name: &'static str,
    line: &'static str,
    protected: &'static [&'static str],
) -> Attack {
    Attack { name, line, protected }
}

/// A project with everything that is protected, made without git.
pub(super) const PROJECT: &str = r#"
repository() { mkdir -p "$1/objects/info" "$1/refs/heads" "$1/hooks" "$1/info"; echo 'ref: refs/heads/main' > "$1/HEAD"
  printf '[core]\n\tbare = false\n' > "$1/config"; echo '# ours' > "$1/hooks/pre-push"; chmod 755 "$1/hooks/pre-push"
  echo '# ours' > "$1/hooks/pre-commit.sample"; chmod 644 "$1/hooks/pre-commit.sample"; echo '*.o' > "$1/info/exclude"; }
repository .git; repository .git/modules/sub; repository vendor/lib/.git; repository bare/x.git
cat >> .git/config <<END
	hooksPath = tools/hooks
[include]
	path = ../conf/shared.inc
[includeIf "gitdir:**"]
	path = ../conf/only-if.inc
[filter "x"]
	clean = tools/clean.sh
END
mkdir -p conf tools/hooks sub docs/greet src .github/workflows .vscode packages/x/.vscode .git/worktrees/w .husky
printf '[user]\n\tname = a\n' | tee conf/shared.inc > conf/only-if.inc
echo '# ours' | tee tools/hooks/pre-commit tools/clean.sh .husky/pre-commit .envrc .bashrc > /dev/null
chmod 755 tools/hooks/pre-commit tools/clean.sh
echo 'gitdir: ../.git/modules/sub' > sub/.git; echo '../..' > .git/worktrees/w/commondir
echo 'on: push' > .github/workflows/ci.yml; echo '{}' | tee .mcp.json .vscode/tasks.json packages/x/.vscode/settings.json > /dev/null
echo ours | tee AGENTS.md docs/a.md src/main.c > /dev/null; ln -s AGENTS.md CLAUDE.md; ln -s nowhere.json .crush.json; : > metier.toml; : > .gitmodules
printf -- '---\nname: greet\ndescription: Greets.\n---\nHello.\n' > docs/greet/SKILL.md
"#;

/// What is protected in the project before any attack.
pub(super) const PROTECTED: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".git/modules",
    ".git/worktrees",
    "vendor/lib/.git/hooks",
    "vendor/lib/.git/config",
    "bare/x.git/hooks",
    "bare/x.git/config",
    "conf/shared.inc",
    "conf/only-if.inc",
    "tools/hooks",
    "tools/clean.sh",
    "sub/.git",
    ".github/workflows",
    ".vscode",
    "packages/x/.vscode",
    ".husky",
    ".envrc",
    ".bashrc",
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
    "metier.toml",
    ".gitmodules",
    "docs/greet",
];
