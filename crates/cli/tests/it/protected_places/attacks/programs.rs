//! Attacks by what other programs run and obey.

use super::{Attack, attack};

/// Attacks on agents, editors, shells, hook managers and build services.
pub(in crate::protected_places) const OTHERS: &[Attack] = &[
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
