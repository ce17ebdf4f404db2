//! Attacks by what git runs and obeys.

use super::{Attack, attack};

/// Attacks on repositories.
pub(in crate::protected_places) const GIT: &[Attack] = &[
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
