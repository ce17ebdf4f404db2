//! M6: In a project links lead into the project or a root of the user's; a new link is a change.

use crate::binary::{metier, workspace};
use metier_testkit::Workspace;
use std::fs;

const DIARY: &str = "---\nname: notes\ndescription: d\n---\nDear diary, nobody knows.\n";
const TEXT: &str = "---\nname: notes\ndescription: d\n---\nHow to take notes.\n";

fn project() -> Workspace {
    workspace()
        .file("home/.config/metier/config.toml", "bundled = false\n")
        .file("home/private/diary.md", DIARY)
        .file("project/metier.toml", "")
        .file("project/.agents/skills/notes/SKILL.md", TEXT)
        .file("project/shared/SKILL.md", TEXT.replace("How to", "How people"))
}

fn without(workspace: Workspace, path: &str) -> Workspace {
    let path = workspace.join(path);
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    workspace
}

#[test]
fn a_document_that_becomes_a_link_to_a_file_of_the_users_is_refused() {
    let workspace = project();
    metier(&workspace, &["trust"]);
    assert!(metier(&workspace, &["use", "notes"]).stdout.contains("How to take notes."));
    for target in ["../../../../home/private/diary.md", "home"] {
        let home = workspace.join("home/private/diary.md");
        let target = if target == "home" { home.to_str().unwrap() } else { target };
        let workspace = without(project(), "project/.agents/skills/notes/SKILL.md")
            .symlink("project/.agents/skills/notes/SKILL.md", target);
        // Trusted or not: nobody says yes to a link by saying yes to a project.
        metier(&workspace, &["trust"]);
        for args in [&["use", "notes"][..], &["list"], &["show", "notes"], &["catalog"]] {
            let run = metier(&workspace, args);
            assert!(!run.stdout.contains("Dear diary"), "{args:?}: {}", run.stdout);
        }
        let doctor = metier(&workspace, &["doctor"]).stdout;
        assert!(doctor.contains("link-outside"), "{doctor}");
    }
}

#[test]
fn a_link_that_comes_after_trust_is_a_change() {
    let workspace = project();
    metier(&workspace, &["trust"]);
    let workspace = without(workspace, "project/.agents/skills/notes/SKILL.md")
        .symlink("project/.agents/skills/notes/SKILL.md", "../../../shared/SKILL.md");
    let run = metier(&workspace, &["run", "take notes", "--no-input"]);
    assert!(run.stderr.contains("skill `notes` (.agents/skills/notes)"), "{}", run.stderr);
    assert!(!run.stdout.contains("How people"), "{}", run.stdout);
    metier(&workspace, &["trust"]);
    assert!(metier(&workspace, &["use", "notes"]).stdout.contains("How people take notes."));
}

#[test]
fn a_link_in_a_skills_folder_is_a_change() {
    let workspace =
        project().executable("project/.agents/skills/notes/scripts/a.sh", "#!/bin/sh\necho ran\n");
    metier(&workspace, &["trust"]);
    let exec = metier(&workspace, &["exec", "notes", "a.sh"]);
    assert!(exec.stdout.contains("ran"), "the control runs: {}", exec.stderr);
    let workspace =
        workspace.symlink("project/.agents/skills/notes/references/x.md", "../../../../shared/SKILL.md");
    let exec = metier(&workspace, &["exec", "notes", "a.sh"]);
    assert!(!exec.stdout.contains("ran"), "{}", exec.stdout);
    assert!(exec.stderr.contains("link `references/x.md` (.agents/skills/notes)"), "{}", exec.stderr);
}

#[test]
fn a_folder_that_becomes_a_link_out_of_the_project_is_refused() {
    let workspace = project().file("home/private/SKILL.md", DIARY);
    metier(&workspace, &["trust"]);
    let workspace = without(workspace, "project/.agents/skills/notes")
        .symlink("project/.agents/skills/notes", "../../../home/private");
    let run = metier(&workspace, &["use", "notes"]);
    assert!(!run.stdout.contains("Dear diary"), "{}", run.stdout);
    assert_ne!(run.code, 0);
}
