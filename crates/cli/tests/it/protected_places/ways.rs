//! Protected places that a link leads to, that git's configuration names, or that are metier's own.

use super::attacks::{Attack, attack};

/// A project, and what is tried in it.
pub(super) struct Way {
    /// Shell lines that make the project. The home is `../home`.
    pub(super) project: &'static str,
    /// What is tried, and what of it is protected.
    pub(super) attack: Attack,
    /// What the same call changes that is not protected.
    pub(super) free: &'static [&'static str],
}

const fn way(project: &'static str, attack: Attack) -> Way {
    Way { project, attack, free: &[] }
}

/// Links on the way to a protected place.
pub(super) const LINKS: &[Way] = &[
    way(
        "git init -q; mkdir tools; ln -s tools th; git config core.hooksPath th",
        attack("hooks in a linked folder", "echo x > tools/pre-commit", &["tools/pre-commit"]),
    ),
    way(
        "git init -q; mkdir -p real/hooks new/hooks; ln -s real a; git config core.hooksPath a/hooks",
        attack(
            "a link above the folder of hooks",
            "echo x > real/hooks/pre-commit; ln -sfn new a; echo x > new/hooks/pre-commit",
            &["a", "real/hooks/pre-commit", "new/hooks/pre-commit"],
        ),
    ),
    way(
        "git init -q; mkdir -p tools/hooks; git config core.hooksPath tools/hooks",
        attack(
            "a folder above the hooks becomes a link",
            "mkdir -p n/hooks; echo x > n/hooks/pre-commit; rm -rf tools; ln -s n tools",
            &["tools", "n/hooks", "n/hooks/pre-commit"],
        ),
    ),
    way(
        "git init -q; mkdir real; ln -s real cfg; git config include.path ../cfg/a",
        attack(
            "an included file in a linked folder",
            "printf '[core]\\nhooksPath=docs\\n' > real/a",
            &["real/a"],
        ),
    ),
    way(
        "git init -q; mkdir real; ln -s real cfg; echo > real/a; git config include.path ../cfg/a",
        attack(
            "a linked folder of an included file leads elsewhere",
            "mkdir n; echo x > n/a; ln -sfn n cfg",
            &["cfg", "n/a"],
        ),
    ),
    way(
        "git init -q; echo > real.cfg; ln -s real.cfg cfg; git config include.path ../cfg",
        attack("an included file is a link", "echo x >> real.cfg; ln -sf other cfg", &["real.cfg", "cfg"]),
    ),
    way(
        "git init -q; mkdir real tools; echo '[core]' > real/a; ln -s real cfg; git config include.path ../cfg/a; printf '[core]\\nhooksPath = tools\\n' > real/a",
        attack(
            "what an included file behind a link names",
            "echo x > tools/pre-commit",
            &["tools/pre-commit"],
        ),
    ),
    way(
        "git init -q; mkdir tools real; ln -s ../real tools/d; echo a > real/pc; ln -s ../../tools/d/pc .git/hooks/pre-commit",
        attack(
            "a link in the middle of the way of a hook",
            "mkdir n; echo x > n/pc; ln -sfn ../n tools/d",
            &["tools/d", "n/pc"],
        ),
    ),
    way(
        "mkdir real; echo a > real/m; ln -s real dd; ln -s dd/m AGENTS.md",
        attack(
            "a link in the middle of the way of instructions",
            "mkdir n; echo x > n/m; ln -sfn n dd; echo x > real/m",
            &["dd", "n/m", "real/m"],
        ),
    ),
    way(
        "mkdir -p real/vs; echo '{}' > real/vs/tasks.json; ln -s real conf; ln -s conf/vs .vscode",
        attack(
            "a link in the middle of the way of an editor's folder",
            "mkdir -p n/vs; echo x > n/vs/tasks.json; ln -sfn n conf; echo x > real/vs/x",
            &["conf", "n/vs", "n/vs/tasks.json", "real/vs/x"],
        ),
    ),
    Way {
        project: "mkdir gh; ln -s gh .github",
        attack: attack(
            "workflows in a linked folder",
            "mkdir gh/workflows gh/actions gh/other; echo x | tee gh/workflows/x.yml gh/actions/x gh/other/x > /dev/null",
            &["gh/workflows", "gh/workflows/x.yml", "gh/actions", "gh/actions/x"],
        ),
        free: &["gh/other", "gh/other/x"],
    },
    Way {
        project: "mkdir -p w/agents p/jj; ln -s w workspace; ln -s jj p/.jj",
        attack: attack(
            "a linked folder two above",
            "echo x | tee w/agents/a.md w/b > /dev/null; mkdir p/jj/repo; echo x > p/jj/repo/config.toml",
            &["w/agents/a.md", "p/jj/repo/config.toml"],
        ),
        free: &["w/b"],
    },
    way(
        "git init -q; mkdir real; ln -s real tools; echo a > real/fsm; git config core.fsmonitor ./tools/fsm",
        attack("a program in a linked folder", "echo x > real/fsm", &["real/fsm"]),
    ),
    way(
        "mkdir a; git -C a init -q; mkdir a/hk; ln -s hk a/h; git -C a config core.hooksPath h",
        attack(
            "hooks in a linked folder of a nested repository",
            "echo x > a/hk/pre-commit",
            &["a/hk/pre-commit"],
        ),
    ),
    way(
        "git init -q ../home/main; git -C ../home/main -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git -C ../home/main worktree add -q \"$PWD/w\"; git -C ../home/main config core.hooksPath hk",
        attack(
            "hooks of a linked worktree",
            "mkdir w/hk; echo x > w/hk/pre-commit",
            &["w/hk", "w/hk/pre-commit"],
        ),
    ),
];

/// Programs and files that git's configuration names.
pub(super) const NAMED: &[Way] = &[
    way(
        "git init -q; git config core.fsmonitor ./tools/fsm",
        attack(
            "a program that is missing",
            "mkdir tools; echo x > tools/fsm; chmod +x tools/fsm",
            &["tools/fsm"],
        ),
    ),
    way(
        "git init -q; mkdir tools; git config core.editor '\"tools/ed x\" -f'; echo a > 'tools/ed x'",
        attack("a program in quotes", "echo x > 'tools/ed x'", &["tools/ed x"]),
    ),
    way(
        "git init -q; printf '[core]\\nhooksPath = ghooks\\n' > ../home/.gitconfig",
        attack(
            "hooks that the user's configuration names",
            "mkdir ghooks; echo x > ghooks/pre-commit",
            &["ghooks", "ghooks/pre-commit"],
        ),
    ),
    way(
        "git init -q; mkdir -p ../home/.config/git; printf '[include]\\npath = ~/more\\n' > ../home/.config/git/config; printf '[core]\\nhooksPath = gh2\\n' > ../home/more",
        attack("hooks that a file of the home names", "mkdir gh2; echo x > gh2/x", &["gh2/x"]),
    ),
    way(
        "git init -q; git config alias.x '!sh run && \"$(git rev-parse --show-toplevel)/tools/top\" a=b'; git config filter.f.clean 'python3 clean.py %f'; git config credential.https://x.y.helper \"$PWD/cred\"; git config core.hooksPath .",
        attack(
            "programs in command lines",
            "mkdir tools; echo x | tee run clean.py cred tools/top pre-commit > /dev/null",
            &["run", "clean.py", "cred", "tools/top", "pre-commit"],
        ),
    ),
    Way {
        project: "git init -q; git config user.name a; git config filter.lfs.clean 'git-lfs clean -- %f'; git config core.fsmonitor false; git config alias.st status; git config core.hooksPath hk; echo 1 | tee a status > /dev/null",
        attack: attack(
            "values that name no program",
            "mkdir hk; echo 1 > hk/pre-commit; echo 1 | tee true false clean a status > /dev/null; mv a z",
            &["hk/pre-commit"],
        ),
        free: &["true", "false", "clean", "a", "z", "status"],
    },
];
