//! Results of a script that would land in a protected place.

use super::{machine_with, part};
use crate::binary::metier;
use crate::change_tree::tree;

#[test]
fn results_are_not_copied_to_what_git_is_configured_to_run() {
    for (project, line, left_out) in [
        (
            "git init -q; git config core.hooksPath th",
            "mkdir $T/th; echo x > $T/th/pre-commit",
            "th/pre-commit",
        ),
        (
            "git init -q; mkdir tools; echo a > tools/fsm; git config core.fsmonitor tools/fsm",
            "mkdir $T/tools; echo x > $T/tools/fsm",
            "tools/fsm",
        ),
        (
            "git init -q; mkdir gh; ln -s gh .github",
            "mkdir -p $T/gh/workflows; echo x > $T/gh/workflows/x",
            "gh/workflows/x",
        ),
        (
            "git init -q; printf '[core]\\nhooksPath = ghooks\\n' > ../home/.gitconfig",
            "mkdir $T/ghooks; echo x > $T/ghooks/a",
            "ghooks/a",
        ),
    ] {
        let workspace = machine_with(project, &format!("T=$TMPDIR; {line}; echo fine > $T/fine.txt"));
        let before = tree(&workspace.join("project"));
        let args = [
            "exec",
            "lab",
            "attack.sh",
            "--out",
            ".",
            "--force",
            "--json",
            "--allow",
            "skill:*/write:ordinary.txt",
        ];
        let report = metier(&workspace, &args).json();
        let after = tree(&workspace.join("project"));
        assert_eq!(part(&before, left_out), part(&after, left_out), "{report}");
        assert!(workspace.join("project/fine.txt").exists(), "{report}");
        let top = left_out.rsplit_once('/').map_or(left_out, |(folder, _)| folder);
        let not_copied = report["not_copied"].to_string();
        assert!(not_copied.contains(left_out) || not_copied.contains(&format!("\"{top}\"")), "{report}");
        assert!(not_copied.contains("protected"), "{report}");
    }
    // Folders that only hold such places are folders like others.
    let workspace = machine_with(
        "mkdir gh; ln -s gh .github",
        "mkdir $TMPDIR/gh $TMPDIR/agents; echo x | tee $TMPDIR/gh/x > $TMPDIR/agents/x",
    );
    let run = metier(
        &workspace,
        &["exec", "lab", "attack.sh", "--out", ".", "--allow", "skill:*/write:ordinary.txt"],
    );
    assert!(
        workspace.join("project/gh/x").exists() && workspace.join("project/agents/x").exists(),
        "{}",
        run.stderr
    );
    // A folder that is protected itself takes nothing.
    let workspace = machine_with(
        "git init -q; mkdir real; ln -s real th; git config core.hooksPath th",
        "echo x > $TMPDIR/a",
    );
    for folder in ["th", "real"] {
        let run = metier(&workspace, &["exec", "lab", "attack.sh", "--out", folder]);
        assert!(
            run.code != 0 && run.stderr.contains("is protected (git runs the hooks in it"),
            "{}",
            run.stderr
        );
    }
}
