//! M2: Skills of one name in two `--root`s have nothing in common.

use crate::binary::{Run, metier, workspace};
use metier_testkit::Workspace;

const SKILL: &str = "---\nname: report\ndescription: Reports.\n---\nRun it.\n";
const SCRIPT: &str = "ls -A \"$SKILL_DATA\"; echo \"$1\" > \"$SKILL_DATA/$1\"\n";

fn exec(workspace: &Workspace, root: &str, word: &str) -> Run {
    metier(workspace, &["exec", "report", "make.sh", "--root", root, "--", word])
}

#[test]
fn m2_two_roots_have_two_data_folders() {
    let workspace = workspace()
        .file("good/report/SKILL.md", SKILL)
        .file("good/report/scripts/make.sh", SCRIPT)
        .file("evil/report/SKILL.md", SKILL)
        .file("evil/report/scripts/make.sh", SCRIPT);
    let (good, evil) = (workspace.join("good"), workspace.join("evil"));
    let (good, evil) = (good.to_str().unwrap(), evil.to_str().unwrap());
    let run = exec(&workspace, evil, "poison");
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    assert_eq!(exec(&workspace, good, "mine").stdout, "");
    // The controls: each finds its own again, also by another path to the same root.
    assert_eq!(exec(&workspace, evil, "poison").stdout, "poison\n");
    assert_eq!(exec(&workspace, &format!("{good}/../good"), "mine").stdout, "mine\n");
    assert_eq!(exec(&workspace, "../good", "mine").stdout, "mine\n");
}

#[test]
fn m2_the_folder_of_an_earlier_version_is_left_alone_and_named_once() {
    let workspace = workspace()
        .file("good/report/SKILL.md", SKILL)
        .file("good/report/scripts/make.sh", SCRIPT)
        .file("home/.local/share/metier/skills/cli/report/old", "whose?")
        .file("home/.local/share/metier/skills/user.agents/report/kept", "mine")
        .file("home/.agents/skills/report/SKILL.md", SKILL)
        .file("home/.agents/skills/report/scripts/make.sh", SCRIPT);
    let run = exec(&workspace, "../good", "mine");
    assert_eq!(run.stdout, "", "{}", run.stderr);
    assert!(run.stderr.contains("skills/cli/report is not used"), "{}", run.stderr);
    assert!(!exec(&workspace, "../good", "mine").stderr.contains("is not used"));
    assert!(workspace.join("home/.local/share/metier/skills/cli/report/old").exists());
    // What a skill of another origin kept is still its own.
    assert_eq!(metier(&workspace, &["exec", "report", "make.sh", "--", "x"]).stdout, "kept\n");
}
