//! Ways to leave something in a project that runs or is obeyed later.

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

/// Attacks on repositories.
pub(super) const GIT: &[Attack] = &[
    attack(
        "a new hook",
        "echo x > .git/hooks/post-merge; chmod +x .git/hooks/post-merge",
        &[".git/hooks/post-merge"],
    ),
    attack("a hook is changed", "echo x >> .git/hooks/pre-push", &[".git/hooks/pre-push"]),
    attack(
        "a sample becomes a hook",
        "mv .git/hooks/pre-commit.sample .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        &[".git/hooks/pre-commit", ".git/hooks/pre-commit.sample"],
    ),
    attack(
        "a sample becomes executable",
        "chmod +x .git/hooks/pre-commit.sample",
        &[".git/hooks/pre-commit.sample"],
    ),
    attack("a hook is deleted", "rm .git/hooks/pre-push", &[".git/hooks/pre-push"]),
    attack(
        "the hooks are a link",
        "rm -rf .git/hooks; mkdir docs/h; echo x > docs/h/pre-push; ln -s ../docs/h .git/hooks",
        &[".git/hooks"],
    ),
    attack(
        "a hook is a link",
        "echo x > docs/hook.sh; chmod +x docs/hook.sh; ln -s ../../docs/hook.sh .git/hooks/post-merge",
        &[".git/hooks/post-merge"],
    ),
    attack(
        "hooks through a link to git's folder",
        "ln -s .git g; echo x > g/hooks/post-merge",
        &[".git/hooks/post-merge"],
    ),
    attack(
        "hooks through a link in a folder",
        "ln -s ../.git/hooks docs/h; echo x > docs/h/post-merge",
        &[".git/hooks/post-merge"],
    ),
    attack(
        "hooks hidden by a new folder",
        "rm -rf .git/hooks; mkdir .git/hooks; echo x > .git/hooks/pre-push",
        &[".git/hooks/pre-push", ".git/hooks/pre-commit.sample"],
    ),
    attack(
        "hooks are gone",
        "rm -rf .git/hooks",
        &[".git/hooks", ".git/hooks/pre-push", ".git/hooks/pre-commit.sample"],
    ),
    attack(
        "hooks under another name and back",
        "mv .git/hooks .git/h && echo x > .git/h/post-merge && mv .git/h .git/hooks || { cp -r .git/hooks .git/h; echo x > .git/h/post-merge; rm -rf .git/hooks; mv .git/h .git/hooks; }",
        &[".git/hooks/post-merge"],
    ),
    attack(
        "the configuration runs a program",
        "printf '[core]\\n\\tfsmonitor = touch x\\n' >> .git/config",
        &[".git/config"],
    ),
    attack(
        "the configuration by rename",
        "{ cat .git/config; printf '[alias]\\n\\tst = !x\\n'; } > .git/config.lock; mv .git/config.lock .git/config",
        &[".git/config"],
    ),
    attack(
        "the configuration in place",
        "printf X | dd of=.git/config bs=1 seek=3 conv=notrunc status=none",
        &[".git/config"],
    ),
    attack("the configuration is deleted", "rm .git/config", &[".git/config"]),
    attack(
        "the configuration is a link",
        "cp .git/config docs/c; echo x >> docs/c; ln -sf ../docs/c .git/config",
        &[".git/config"],
    ),
    attack(
        "the configuration of a worktree",
        "printf '[core]\\n\\tfsmonitor = x\\n' > .git/config.worktree",
        &[".git/config.worktree"],
    ),
    attack("commondir", "mkdir -p docs/c; echo ../docs/c > .git/commondir", &[".git/commondir"]),
    attack(
        "commondir in a closed folder",
        "echo ../docs > .git/commondir; chmod 0311 .git",
        &[".git", ".git/commondir"],
    ),
    attack(
        "commondir of a worktree",
        "echo ../../../docs > .git/worktrees/w/commondir",
        &[".git/worktrees/w/commondir"],
    ),
    attack(
        "a new worktree",
        "mkdir .git/worktrees/v; echo x > .git/worktrees/v/gitdir",
        &[".git/worktrees/v", ".git/worktrees/v/gitdir"],
    ),
    attack(
        "an included file",
        "printf '[core]\\n\\tfsmonitor = x\\n' >> conf/shared.inc",
        &["conf/shared.inc"],
    ),
    attack(
        "a file included under a condition",
        "printf '[core]\\n\\tpager = x\\n' >> conf/only-if.inc",
        &["conf/only-if.inc"],
    ),
    attack(
        "the folder of an included file",
        "mv conf c2; mkdir conf; echo x > conf/shared.inc",
        &["conf/shared.inc"],
    ),
    attack("the folder of core.hooksPath", "echo x > tools/hooks/post-merge", &["tools/hooks/post-merge"]),
    attack(
        "the folder above core.hooksPath",
        "mkdir -p t/hooks; echo x > t/hooks/pre-commit; rm -rf tools; mv t tools",
        &["tools/hooks/pre-commit", "tools/clean.sh"],
    ),
    attack(
        "core.hooksPath becomes a link",
        "mkdir docs/h; rm -rf tools/hooks; ln -s ../docs/h tools/hooks",
        &["tools/hooks"],
    ),
    attack("a program that a filter names", "echo x >> tools/clean.sh", &["tools/clean.sh"]),
    attack(
        "git's folder is a file",
        "rm -rf .git; echo 'gitdir: docs/g' > .git",
        &[".git", ".git/config", ".git/hooks/pre-push"],
    ),
    attack(
        "git's folder is a link",
        "cp -r .git docs/g; rm -rf .git; ln -s docs/g .git",
        &[".git", ".git/config", "docs/g/config"],
    ),
    attack(
        "git's folder is moved",
        "mv .git elsewhere; mkdir .git; echo x > .git/config",
        &[".git/config", ".git/hooks/pre-push"],
    ),
    attack("git's folder is read-only", "echo x >> .git/config; chmod 0555 .git", &[".git/config"]),
    attack(
        "git's folder is closed",
        "echo x >> .git/config; echo x > .git/hooks/post-merge; chmod 0000 .git/hooks .git",
        &[".git", ".git/config", ".git/hooks", ".git/hooks/post-merge"],
    ),
    attack("a folder above what a filter names is closed", "chmod 0000 tools", &["tools"]),
    attack("the project is closed to everyone", "echo x > .envrc; chmod 0000 .", &[".envrc"]),
    attack(
        "the project is closed",
        "echo x > .envrc; echo x > .mcp.json; chmod 0555 .",
        &[".envrc", ".mcp.json"],
    ),
    attack(
        "a repository of a submodule",
        "printf '[core]\\n\\tfsmonitor = x\\n' >> .git/modules/sub/config; echo x > .git/modules/sub/hooks/post-merge",
        &[".git/modules/sub/config", ".git/modules/sub/hooks/post-merge"],
    ),
    attack("a submodule leads elsewhere", "echo 'gitdir: ../docs/g' > sub/.git", &["sub/.git"]),
    attack(
        "the list of submodules",
        "printf '[submodule \"s\"]\\n\\tupdate = !x\\n' > .gitmodules",
        &[".gitmodules"],
    ),
    attack(
        "a file that makes a folder a repository",
        "echo 'gitdir: ../bare/x.git' > docs/.git",
        &["docs/.git"],
    ),
    attack("a link that makes a folder a repository", "ln -s ../bare/x.git docs/.git", &["docs/.git"]),
    attack(
        "a repository in a folder",
        "mkdir -p docs/.git/hooks; printf '[core]\\n\\tfsmonitor = x\\n' > docs/.git/config; echo x > docs/.git/hooks/pre-commit",
        &["docs/.git/config", "docs/.git/hooks", "docs/.git/hooks/pre-commit"],
    ),
    attack(
        "a nested repository",
        "echo x >> vendor/lib/.git/config; echo x > vendor/lib/.git/hooks/post-merge; echo ../../.. > vendor/lib/.git/commondir",
        &["vendor/lib/.git/config", "vendor/lib/.git/hooks/post-merge", "vendor/lib/.git/commondir"],
    ),
    attack(
        "the folder of a nested repository",
        "cp -r vendor/lib vendor/new; echo x >> vendor/new/.git/config; rm -rf vendor/lib; mv vendor/new vendor/lib",
        &["vendor/lib/.git/config"],
    ),
    attack(
        "a bare repository is changed",
        "echo x >> bare/x.git/config; echo x > bare/x.git/hooks/post-update",
        &["bare/x.git/config", "bare/x.git/hooks/post-update"],
    ),
    attack(
        "a bare repository is made",
        "mkdir -p docs/objects docs/refs docs/hooks; echo 'ref: refs/heads/main' > docs/HEAD; echo x > docs/config; echo x > docs/hooks/pre-commit",
        &["docs/HEAD", "docs/config", "docs/hooks", "docs/hooks/pre-commit"],
    ),
    attack(
        "a bare repository without a configuration is made",
        "mkdir -p docs/objects docs/refs; echo 'ref: refs/heads/main' > docs/HEAD",
        &["docs/HEAD"],
    ),
    attack(
        "a rebase continues with commands and programs",
        "mkdir .git/rebase-merge; cd .git/rebase-merge; echo 'exec x' | tee git-rebase-todo git-rebase-todo.backup done > /dev/null; \
        echo ../x | tee strategy strategy_opts gpg_sign_opt > /dev/null",
        &[
            ".git/rebase-merge/git-rebase-todo",
            ".git/rebase-merge/git-rebase-todo.backup",
            ".git/rebase-merge/strategy",
            ".git/rebase-merge/strategy_opts",
            ".git/rebase-merge/gpg_sign_opt",
        ],
    ),
    attack(
        "a series of patches continues with options",
        "mkdir .git/rebase-apply; cd .git/rebase-apply; echo x | tee patch apply-opt strategy gpg_sign_opt git-rebase-todo > /dev/null",
        &[
            ".git/rebase-apply/apply-opt",
            ".git/rebase-apply/strategy",
            ".git/rebase-apply/gpg_sign_opt",
            ".git/rebase-apply/git-rebase-todo",
        ],
    ),
    attack(
        "a cherry-pick continues with a program",
        "mkdir .git/sequencer; echo 'pick x' > .git/sequencer/todo; printf '[options]\n\tstrategy = x/../evil\n' > .git/sequencer/opts",
        &[".git/sequencer/todo", ".git/sequencer/opts"],
    ),
    attack(
        "the plan of a cherry-pick in a linked folder",
        "mkdir docs/s; echo 'pick x' > docs/s/todo; ln -s ../docs/s .git/sequencer",
        &[".git/sequencer"],
    ),
    attack(
        "the plan of a rebase in a bare repository",
        "mkdir bare/x.git/rebase-merge; echo 'exec x' > bare/x.git/rebase-merge/git-rebase-todo",
        &["bare/x.git/rebase-merge/git-rebase-todo"],
    ),
    attack(
        "a bare repository with objects that are links",
        "ln -s ../.git/objects src/objects; ln -s ../.git/refs src/refs; echo 'ref: refs/heads/main' > src/HEAD; echo x > src/config",
        &["src/HEAD", "src/config"],
    ),
    attack(
        "a bare repository with its folder elsewhere",
        "echo ../.git > src/commondir; echo 'ref: refs/heads/main' > src/HEAD; echo x > src/config.worktree; mkdir src/objects src/refs",
        &["src/HEAD", "src/commondir", "src/config.worktree"],
    ),
    attack(
        "a bare repository is deleted",
        "rm -rf bare",
        &["bare/x.git/config", "bare/x.git/hooks/pre-push"],
    ),
    attack(
        "objects from elsewhere",
        "echo ../../docs > .git/objects/info/alternates",
        &[".git/objects/info/alternates"],
    ),
    attack(
        "objects of a nested repository from elsewhere",
        "echo ../../docs > vendor/lib/.git/objects/info/alternates",
        &["vendor/lib/.git/objects/info/alternates"],
    ),
    attack(
        "a second name of the configuration",
        "ln .git/config docs/c && echo x >> docs/c && mv -f docs/c .git/config",
        &[".git/config"],
    ),
    attack(
        "a second name of a new hook",
        "echo x > docs/h; ln docs/h .git/hooks/post-merge",
        &[".git/hooks/post-merge"],
    ),
    attack(
        "other cases",
        "mkdir -p docs/.GIT/HOOKS docs/.GitHub/Workflows; echo x > docs/.GIT/CONFIG; echo x > docs/.GIT/HOOKS/pre-commit; echo x > docs/.GitHub/Workflows/x.yml",
        &["docs/.GIT/CONFIG", "docs/.GIT/HOOKS/pre-commit", "docs/.GitHub/Workflows/x.yml"],
    ),
    attack(
        "through the descriptor of a process",
        "exec 3>> .git/config; echo x > /proc/self/fd/3",
        &[".git/config"],
    ),
    attack(
        "through the current folder of a process",
        "cd .git/hooks; echo x > /proc/self/cwd/post-merge",
        &[".git/hooks/post-merge"],
    ),
    attack(
        "through the root of a process",
        "echo x > \"/proc/self/root$PROJECT_DIR/.git/hooks/post-merge\"",
        &[".git/hooks/post-merge"],
    ),
    attack(
        "a descriptor that is open while the file moves",
        "exec 3>> .git/hooks/pre-push; mv .git/hooks/pre-push docs/p; echo x >&3; mv docs/p .git/hooks/pre-push",
        &[".git/hooks/pre-push"],
    ),
    attack(
        "a deleted file that is still open",
        "exec 3<> .git/config; rm .git/config; echo x >&3; cat /proc/self/fd/3 > .git/config",
        &[".git/config"],
    ),
    attack(
        "a race of links",
        "for i in $(seq 50); do ln -sfn ../.git docs/t; echo x > docs/t/commondir; ln -sfn ../src docs/t; done",
        &[".git/commondir"],
    ),
    attack(
        "a process that stays",
        "(while :; do echo x > .git/commondir; done) & while [ ! -e .git/commondir ]; do :; done",
        &[".git/commondir"],
    ),
];

/// Attacks on agents, editors, shells, hook managers and build services.
pub(super) const OTHERS: &[Attack] = &[
    attack("a workflow", "echo x > .github/workflows/x.yml", &[".github/workflows/x.yml"]),
    attack("a workflow is deleted", "rm .github/workflows/ci.yml", &[".github/workflows/ci.yml"]),
    attack(
        "workflows by renaming the folder",
        "mkdir ci; echo x > ci/x.yml; rm -rf .github/workflows; mv ci .github/workflows",
        &[".github/workflows/x.yml", ".github/workflows/ci.yml"],
    ),
    attack(
        "workflows by renaming the folder above",
        "mkdir -p n/workflows; echo x > n/workflows/ci.yml; rm -rf .github; mv n .github",
        &[".github/workflows/ci.yml"],
    ),
    attack(
        "workflows moved away",
        "mkdir old; mv .github/workflows/ci.yml old/; rmdir .github/workflows .github",
        &[".github/workflows/ci.yml", ".github/workflows"],
    ),
    attack(
        "a link called .github",
        "mkdir -p docs/g/workflows; echo x > docs/g/workflows/x.yml; rm -rf .github; ln -s docs/g .github",
        &[".github", ".github/workflows/ci.yml"],
    ),
    attack(
        "a link called .github in a package",
        "mkdir -p docs/g/workflows; ln -s ../../docs/g packages/x/.github",
        &["packages/x/.github"],
    ),
    attack(
        "workflows are a link",
        "rm -rf .github/workflows; ln -s ../docs .github/workflows",
        &[".github/workflows", ".github/workflows/ci.yml"],
    ),
    attack("a link called .config", "mkdir -p docs/c/fish; ln -s docs/c .config", &[".config"]),
    attack(
        "a link called .cargo",
        "mkdir docs/c; echo x > docs/c/config.toml; ln -s docs/c .cargo",
        &[".cargo"],
    ),
    attack(
        "other build services",
        "echo x | tee .gitlab-ci.yml Jenkinsfile azure-pipelines-2.yml > /dev/null; mkdir .circleci; echo x > .circleci/config.yml",
        &[".gitlab-ci.yml", "Jenkinsfile", "azure-pipelines-2.yml", ".circleci", ".circleci/config.yml"],
    ),
    attack("an editor's task", "echo '{\"x\":1}' > .vscode/tasks.json", &[".vscode/tasks.json"]),
    attack(
        "an editor's settings in a package",
        "echo x > packages/x/.vscode/settings.json; mkdir -p packages/y/z/.vscode; echo x > packages/y/z/.vscode/tasks.json",
        &["packages/x/.vscode/settings.json", "packages/y/z/.vscode", "packages/y/z/.vscode/tasks.json"],
    ),
    attack("an editor's folder is closed", "chmod 0000 .vscode", &[".vscode"]),
    attack(
        "an editor's folder by rename",
        "mkdir v; echo x > v/tasks.json; rm -rf .vscode; mv v .vscode",
        &[".vscode/tasks.json"],
    ),
    attack(
        "a dev container",
        "mkdir .devcontainer; echo x > .devcontainer/devcontainer.json; echo x > .devcontainer.json",
        &[".devcontainer", ".devcontainer/devcontainer.json", ".devcontainer.json"],
    ),
    attack(
        "editors' start files",
        "echo x | tee .exrc .nvim.lua .dir-locals.el x.code-workspace > /dev/null",
        &[".exrc", ".nvim.lua", ".dir-locals.el", "x.code-workspace"],
    ),
    attack("an agent's instructions", "echo x >> AGENTS.md", &["AGENTS.md"]),
    attack("the target of a link that leads to nothing", "echo x > nowhere.json", &["nowhere.json"]),
    attack("instructions through a link", "echo x >> CLAUDE.md", &["AGENTS.md"]),
    attack("a link of instructions is replaced", "rm CLAUDE.md; echo x > CLAUDE.md", &["CLAUDE.md"]),
    attack("a link of instructions leads elsewhere", "ln -sfn docs/a.md CLAUDE.md", &["CLAUDE.md"]),
    attack(
        "instructions in a package",
        "echo x > packages/x/AGENTS.md; echo x > src/claude.md",
        &["packages/x/AGENTS.md", "src/claude.md"],
    ),
    attack(
        "instructions of further agents",
        "echo x | tee AGENT.md codex.md docs/replit.md > /dev/null; echo '{}' > firebender.json",
        &["AGENT.md", "codex.md", "docs/replit.md", "firebender.json"],
    ),
    attack("an agent's servers", "echo '{\"mcpServers\":{}}' > .mcp.json", &[".mcp.json"]),
    attack(
        "an agent's servers by an editor's save",
        "echo x > .mcp.json.tmp; mv .mcp.json.tmp .mcp.json",
        &[".mcp.json"],
    ),
    attack(
        "an agent's folders",
        "mkdir -p .claude/commands .cursor; echo x > .claude/settings.json; echo x > .cursor/mcp.json",
        &[".claude", ".claude/settings.json", ".cursor", ".cursor/mcp.json"],
    ),
    attack(
        "a link called .claude",
        "mkdir docs/c; echo x > docs/c/settings.json; ln -s docs/c .claude",
        &[".claude"],
    ),
    attack(
        "metier's own settings",
        "echo '[gate]' > metier.toml; mkdir .metier; echo x > .metier/config.toml",
        &["metier.toml", ".metier", ".metier/config.toml"],
    ),
    attack(
        "a skill is changed",
        "echo x >> docs/greet/SKILL.md; mkdir docs/greet/scripts; echo x > docs/greet/scripts/x.sh",
        &["docs/greet/SKILL.md", "docs/greet/scripts", "docs/greet/scripts/x.sh"],
    ),
    attack(
        "a skill is added",
        "mkdir -p .agents/skills/x; cp docs/greet/SKILL.md .agents/skills/x/",
        &[".agents", ".agents/skills/x/SKILL.md"],
    ),
    attack(
        "the folder of a skill",
        "cp -r docs/greet g; echo x >> g/SKILL.md; rm -rf docs/greet; mv g docs/greet",
        &["docs/greet/SKILL.md"],
    ),
    attack(
        "shells' start files",
        "echo x | tee .bashrc .zshrc .profile .envrc > /dev/null; mkdir -p .config/fish; echo x > .config/fish/config.fish",
        &[".bashrc", ".zshrc", ".profile", ".envrc", ".config/fish", ".config/fish/config.fish"],
    ),
    attack("a start file through a second name", "echo x > docs/rc; ln docs/rc .zshrc", &[".zshrc"]),
    attack(
        "a start file by copying onto it",
        "echo x > e; cp e .envrc; install -m 755 e .bashrc; rm e",
        &[".envrc", ".bashrc"],
    ),
    attack("a start file is truncated", "truncate -s 0 .envrc", &[".envrc"]),
    attack("a start file gets other permissions", "chmod 0777 .envrc .bashrc", &[".envrc", ".bashrc"]),
    attack(
        "hook managers",
        "echo x >> .husky/pre-commit; echo x > .pre-commit-config.yaml; echo x > lefthook.yml",
        &[".husky/pre-commit", ".pre-commit-config.yaml", "lefthook.yml"],
    ),
    attack(
        "a protected folder becomes a file",
        "rm -rf .husky; echo x > .husky",
        &[".husky", ".husky/pre-commit"],
    ),
    attack(
        "a protected file becomes a folder",
        "rm .envrc; mkdir .envrc; echo x > .envrc/x",
        &[".envrc", ".envrc/x"],
    ),
    attack(
        "tools of developers",
        "mkdir .cargo; echo x > .cargo/config.toml; echo x | tee .gdbinit .yarnrc.yml mise.toml > /dev/null",
        &[".cargo/config.toml", ".gdbinit", ".yarnrc.yml", "mise.toml"],
    ),
    attack(
        "everything is deleted",
        "find . -mindepth 1 ! -name ordinary.txt -delete",
        &[
            ".git/config",
            ".envrc",
            "AGENTS.md",
            "docs/greet/SKILL.md",
            ".github/workflows/ci.yml",
            "sub/.git",
            "conf/shared.inc",
        ],
    ),
    attack(
        "an archive over everything",
        "tar -cf /tmp/t.tar --exclude=./sub .; find . -type f ! -path './sub/*' ! -name ordinary.txt -exec sh -c 'echo x >> \"$1\"' sh {} \\;",
        &[".git/config", ".envrc", "AGENTS.md", "tools/clean.sh", "bare/x.git/config"],
    ),
];
