//! Files of a git folder that name a program to run, or send git to another folder or configuration.
//!
//! `HEAD`, `index`, `objects`, `refs`, `logs` and the rest hold content, so that `git add`, `commit`, `rebase` and `stash` touch no
//! protected place, also in a submodule or a linked worktree, whose folders lie in `modules` and `worktrees`. A rebase or cherry-pick
//! that stops leaves the plan of what is left, which names programs.

/// What git runs or obeys when a rebase, cherry-pick, revert or `git am` continues, by the folder of the operation. `exec` lines of a
/// plan are commands, a strategy is the end of a program's name, and options are handed to programs. An operation that comes to its
/// end leaves none of them.
const CONTINUED: [(&str, &[&str]); 3] = [
    (
        "rebase-merge",
        &["git-rebase-todo", "git-rebase-todo.backup", "strategy", "strategy_opts", "gpg_sign_opt"],
    ),
    (
        "rebase-apply",
        &[
            "git-rebase-todo",
            "git-rebase-todo.backup",
            "strategy",
            "strategy_opts",
            "gpg_sign_opt",
            "apply-opt",
        ],
    ),
    ("sequencer", &["todo", "opts"]),
];

/// Whether a step is git's own folder, also by its short name on file systems that have those.
pub(super) fn is_git(step: &str) -> bool {
    step.eq_ignore_ascii_case(".git") || step.eq_ignore_ascii_case("git~1")
}

/// Whether a path below a git folder decides what git runs or reads.
pub(super) fn is_control(steps: &[&str]) -> bool {
    is_inside(steps, is_own_control)
}

/// Whether a path is a folder that holds such files. A link or a file in its place brings others.
pub(super) fn is_holder(steps: &[&str]) -> bool {
    is_inside(steps, is_own_holder)
}

/// Whether the steps below a git folder, or below that of a submodule or worktree in it, are meant.
fn is_inside(steps: &[&str], is_meant: impl Fn(&[&str]) -> bool) -> bool {
    let after = |at: usize| steps.get(at + 1..).unwrap_or_default();
    let folders = steps.iter().enumerate().filter(|(_, step)| is_git(step));
    folders.map(|(at, _)| after(at)).any(|inside| match inside.first() {
        // Names of submodules have any number of steps, so each of them can be where the submodule's folder begins.
        Some(first) if is(first, "modules") || is(first, "worktrees") => {
            (1..inside.len()).any(|at| !is_name_of_a_ref(&inside[..at]) && is_meant(&inside[at..]))
        }
        _ => is_meant(inside),
    })
}

/// Below one git folder.
fn is_own_control(inside: &[&str]) -> bool {
    match inside {
        // Programs, options that name programs, and pointers to another git folder.
        [first, ..]
            if ["hooks", "config", "config.worktree", "commondir", "gitdir"]
                .iter()
                .any(|name| is(first, name)) =>
        {
            true
        }
        // Which filters and merge programs are used; git itself never writes it.
        [first, second, ..] if is(first, "info") => is(second, "attributes"),
        // Other folders whose objects git takes for the project's own.
        [first, second, third, ..] if is(first, "objects") && is(second, "info") => {
            is(third, "alternates") || is(third, "http-alternates")
        }
        [first, second, ..] => CONTINUED
            .iter()
            .any(|(folder, files)| is(first, folder) && files.iter().any(|file| is(second, file))),
        _ => false,
    }
}

/// Below one git folder.
fn is_own_holder(inside: &[&str]) -> bool {
    match inside {
        [only] => {
            is(only, "info") || is(only, "objects") || CONTINUED.iter().any(|(folder, _)| is(only, folder))
        }
        [first, second] => is(first, "objects") && is(second, "info"),
        _ => false,
    }
}

/// Whether what follows is the name of a branch or a tag, which may be called `config`.
fn is_name_of_a_ref(before: &[&str]) -> bool {
    before
        .windows(2)
        .any(|pair| is(pair[0], "refs") && ["heads", "tags", "remotes"].iter().any(|kind| is(pair[1], kind)))
}

fn is(step: &str, name: &str) -> bool {
    step.eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::{is_control, is_holder};

    fn check(path: &str, expect: bool) {
        assert_eq!(is_control(&path.split('/').collect::<Vec<_>>()), expect, "{path}");
    }

    #[test]
    fn what_git_runs_or_follows_is_protected_in_every_git_folder() {
        for inside in [
            "hooks",
            "hooks/pre-commit",
            "config",
            "config.worktree",
            "commondir",
            "gitdir",
            "info/attributes",
            "objects/info/alternates",
            "rebase-merge/git-rebase-todo",
            "rebase-merge/git-rebase-todo.backup",
            "rebase-merge/strategy",
            "rebase-merge/strategy_opts",
            "rebase-merge/gpg_sign_opt",
            "rebase-apply/git-rebase-todo",
            "rebase-apply/strategy",
            "rebase-apply/gpg_sign_opt",
            "rebase-apply/apply-opt",
            "sequencer/todo",
            "Sequencer/OPTS",
        ] {
            for folder in
                [".git", "sub/.GIT", "git~1", ".git/modules/lib", ".git/modules/a/b/c", ".git/worktrees/w"]
            {
                check(&format!("{folder}/{inside}"), true);
            }
        }
    }

    #[test]
    fn what_git_writes_in_ordinary_use_is_not_protected() {
        for inside in [
            "HEAD",
            "ORIG_HEAD",
            "index",
            "COMMIT_EDITMSG",
            "description",
            "info/exclude",
            "objects/ab/cdef",
            "objects/info/packs",
            "objects/pack/pack-1.pack",
            "refs/heads/main",
            "refs/heads/config",
            "refs/tags/hooks/x",
            "refs/stash",
            "logs/HEAD",
            "logs/refs/heads/config",
            "rebase-merge",
            "rebase-merge/done",
            "rebase-merge/message",
            "rebase-apply/patch",
            "sequencer",
            "sequencer/head",
            "sequencer/abort-safety",
            "packed-refs",
        ] {
            for folder in [".git", ".git/modules/lib", ".git/worktrees/w"] {
                check(&format!("{folder}/{inside}"), false);
            }
        }
        check("config", false);
        check("docs/hooks/a", false);
    }

    #[test]
    fn a_link_in_the_place_of_a_folder_with_such_files_is_known() {
        for (path, expect) in [
            (".git/rebase-merge", true),
            ("sub/.GIT/sequencer", true),
            (".git/worktrees/w/rebase-apply", true),
            (".git/objects/info", true),
            (".git/info", true),
            (".git/logs", false),
            (".git/objects/ab", false),
            ("sequencer", false),
        ] {
            assert_eq!(is_holder(&path.split('/').collect::<Vec<_>>()), expect, "{path}");
        }
    }
}
