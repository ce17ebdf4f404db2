//! What a call changed where it could write.

use crate::scene::{Scene, sandbox, sh};
use metier_sandbox::{ChangeKind, Choice};

#[test]
fn what_a_call_changed_in_the_project_is_listed_and_its_own_folders_are_not() {
    let mut scene = Scene::new().file("project/a", "1").file("project/b", "2").file("project/c", "3");
    let project = scene.path("project");
    scene.project().writable.push(project.clone());
    scene.project().protected.push(project.join(".vscode"));
    let line = format!(
        "cd {}; echo more >> a; rm b; mkdir -p docs .vscode; echo new > docs/d; echo x > .vscode/tasks.json; \
         echo kept > {}/kept; echo out > $TMPDIR/out",
        project.display(),
        scene.path("data").display()
    );
    let report = sandbox(Choice::Best).run(&scene.profile, &sh(&line)).unwrap();
    assert!(report.succeeded(), "{}", report.stderr.text());
    let listed: Vec<_> = report
        .changes
        .entries
        .iter()
        .map(|change| (change.kind, change.path.strip_prefix(&project).unwrap().to_str().unwrap()))
        .collect();
    assert_eq!(
        listed,
        [
            (ChangeKind::New, ".vscode.set-aside"),
            (ChangeKind::New, ".vscode.set-aside/tasks.json"),
            (ChangeKind::Changed, "a"),
            (ChangeKind::Removed, "b"),
            (ChangeKind::New, "docs"),
            (ChangeKind::New, "docs/d"),
        ]
    );
    assert!(!report.changes.is_partial);
}

#[test]
fn a_call_that_can_write_nothing_changes_nothing() {
    let scene = Scene::new().file("project/a", "1");
    let report = scene.shell("echo out > $TMPDIR/out");
    assert_eq!(report.changes, metier_sandbox::Changes::default());
}
