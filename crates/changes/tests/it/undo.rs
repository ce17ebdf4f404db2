//! What another program did to an applied set, and what a stop or a failure leaves of an undo.

use std::fs;
use std::path::Path;

use metier_changes::{
    ApplyError, CallOrigin, ConflictReason, Interrupted, Layer, LayerState, RefusalReason, apply, scan, undo,
};
use rustix::fs::{XattrFlags, setxattr};

use crate::support::{
    Ground, all, close, no_starts, path, paths, put, run_in_overlay, short, tree, whiteout,
};

fn layer(ground: &Ground) -> Layer {
    ground.store.create(&ground.project(), CallOrigin::default()).unwrap()
}

/// The conflicts that an undo finds, in short.
fn conflicts(layer: &Layer) -> Vec<(String, ConflictReason)> {
    match undo(layer) {
        Err(ApplyError::Conflicts(conflicts)) => {
            conflicts.into_iter().map(|conflict| (conflict.path.to_string(), conflict.reason)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_undo_names_everything_that_is_not_as_it_was_applied() {
    use ConflictReason::{Appeared, Changed};
    let ground = Ground::new(&[("a", "one"), ("b", "two"), ("d/x", "x")]);
    let project = ground.project();
    let layer = layer(&ground);
    put(&layer.upper().join("n/deep/1"), "1");
    put(&layer.upper().join("a"), "changed");
    whiteout(&layer.upper().join("b"));
    let changes = scan(&layer).unwrap();
    apply(&layer, &changes, &all(&changes)).unwrap();
    let applied = tree(&project);
    put(&project.join("n/deep/theirs/file"), "theirs");
    put(&project.join("n/2"), "theirs");
    put(&project.join("b"), "theirs");
    close(&project.join("a"), 0o600);
    close(&project.join("n/deep/1"), 0o600);
    // What is in a folder that was there before is none of its business.
    put(&project.join("d/theirs"), "theirs");
    let theirs = tree(&project);
    assert_eq!(
        conflicts(&layer),
        [
            ("a".to_owned(), Changed),
            ("b".to_owned(), Appeared),
            ("n/2".to_owned(), Appeared),
            ("n/deep/theirs".to_owned(), Appeared),
            ("n/deep/1".to_owned(), Changed),
        ]
    );
    assert_eq!(tree(&project), theirs);
    assert_eq!(layer.state().unwrap(), LayerState::Applied);
    for path in ["n/2", "b", "d/theirs"] {
        fs::remove_file(project.join(path)).unwrap();
    }
    fs::remove_dir_all(project.join("n/deep/theirs")).unwrap();
    close(&project.join("a"), 0o644);
    close(&project.join("n/deep/1"), 0o644);
    assert_eq!(tree(&project), applied);
    let undone = undo(&layer).unwrap().unwrap();
    assert_eq!(undone.paths, ["a", "b", "n", "n/deep", "n/deep/1"].map(path));
    assert_eq!(undone.still_applied, 0);
}

#[test]
fn a_folder_that_its_owner_cannot_read_is_looked_into_and_closed_again() {
    let ground = Ground::new(&[("a", "one")]);
    let before = tree(&ground.project());
    for mode in [0o311, 0o000, 0o600] {
        let layer = layer(&ground);
        put(&layer.upper().join("d/e/f"), "x");
        close(&layer.upper().join("d"), mode);
        let changes = scan(&layer).unwrap();
        apply(&layer, &changes, &all(&changes)).unwrap();
        let folder = ground.project().join("d");
        let mode_of = || std::os::unix::fs::MetadataExt::mode(&fs::metadata(&folder).unwrap()) & 0o777;
        assert_eq!(mode_of(), mode);
        close(&folder, 0o700);
        put(&folder.join("e/theirs"), "theirs");
        close(&folder, mode);
        assert_eq!(conflicts(&layer), [("d/e/theirs".to_owned(), ConflictReason::Appeared)]);
        assert_eq!(mode_of(), mode);
        close(&folder, 0o700);
        fs::remove_file(folder.join("e/theirs")).unwrap();
        close(&folder, mode);
        undo(&layer).unwrap();
        assert_eq!(tree(&ground.project()), before);
        layer.remove().unwrap();
    }
}

#[test]
fn an_undo_that_fails_leaves_everything_applied() {
    let ground = Ground::new(&[("a", "one"), ("d/x", "x"), ("e/y", "y"), ("z", "z")]);
    let project = ground.project();
    let before = tree(&project);
    let layer = layer(&ground);
    put(&layer.upper().join("a"), "changed");
    put(&layer.upper().join("d/n"), "new");
    put(&layer.upper().join("made/f"), "new");
    whiteout(&layer.upper().join("z"));
    fs::create_dir(layer.upper().join("e")).unwrap();
    whiteout(&layer.upper().join("e/y"));
    let changes = scan(&layer).unwrap();
    let selected = &all(&changes) - &paths(&["made/g"]);
    apply(&layer, &changes, &selected).unwrap();
    let applied = tree(&project);
    // The layer itself is damaged: there is no folder to take the new file back to.
    fs::rename(layer.upper().join("d"), layer.upper().join("was-d")).unwrap();
    let error = undo(&layer).unwrap_err();
    assert!(error.to_string().contains("d/n"), "{error}");
    assert_eq!(tree(&project), applied);
    assert_eq!(layer.state().unwrap(), LayerState::Applied);
    fs::rename(layer.upper().join("was-d"), layer.upper().join("d")).unwrap();
    undo(&layer).unwrap();
    assert_eq!(tree(&project), before);
}

/// The machine stops while a set is applied, someone goes on working, and the next metier has to take the set back.
#[test]
fn what_was_put_into_a_new_folder_before_a_recovery_stays_in_the_project() {
    let _alone = no_starts();
    let ground = Ground::new(&[("a", "one")]);
    let project = ground.project();
    let layer = layer(&ground);
    put(&layer.upper().join("n/deep/1"), "1");
    put(&layer.upper().join("a"), "changed");
    let changes = scan(&layer).unwrap();
    apply(&layer, &changes, &all(&changes)).unwrap();
    let id = layer.id();
    let folder = layer.upper().parent().unwrap().to_owned();
    drop(layer);
    // As it is right before the last step, and after another program has written to the file that was replaced.
    fs::rename(folder.join("applied-1.json"), folder.join("journal.json")).unwrap();
    put(&project.join("n/deep/theirs"), "theirs");
    put(&project.join("n/2/3"), "theirs");
    fs::write(folder.join("upper/a"), "written to the old file").unwrap();
    let recovered = ground.store.recover(&project).unwrap();
    assert_eq!(recovered.len(), 1);
    assert_eq!((recovered[0].interrupted, recovered[0].state), (Interrupted::Apply, LayerState::TakenBack));
    let text = |path: &str| fs::read_to_string(project.join(path)).unwrap_or_default();
    assert_eq!((text("n/deep/theirs"), text("n/2/3")), ("theirs".to_owned(), "theirs".to_owned()));
    assert!(!project.join("n/deep/1").exists());
    assert_eq!(text("a"), "written to the old file");
    // What was taken back can be applied when their folder is out of the way.
    fs::rename(project.join("n"), project.join("theirs")).unwrap();
    let layer = ground.store.open(&id).unwrap();
    apply(&layer, &layer.pending().unwrap(), &paths(&["n", "n/deep", "n/deep/1"])).unwrap();
    assert_eq!(text("n/deep/1"), "1");
    assert!(!project.join("n/deep/theirs").exists());
}

#[test]
fn what_nobody_decided_about_waits_after_an_undo() {
    let ground = Ground::new(&[("a", "one"), ("b", "two"), ("c", "three")]);
    let layer = layer(&ground);
    for name in ["a", "b", "c"] {
        put(&layer.upper().join(name), "changed");
    }
    let changes = scan(&layer).unwrap();
    apply(&layer, &changes, &paths(&["a"])).unwrap();
    apply(&layer, &layer.pending().unwrap(), &paths(&["b"])).unwrap();
    let undone = undo(&layer).unwrap().unwrap();
    assert_eq!((undone.paths, undone.still_applied), (vec![path("b")], 1));
    assert_eq!(layer.state().unwrap(), LayerState::Pending);
    undo(&layer).unwrap().unwrap();
    assert_eq!(layer.state().unwrap(), LayerState::Pending);
    apply(&layer, &layer.pending().unwrap(), &all(&changes)).unwrap();
    undo(&layer).unwrap().unwrap();
    assert_eq!(layer.state().unwrap(), LayerState::Undone);
}

#[test]
fn extended_attributes_alone_are_named_and_not_applied() {
    let ground = Ground::new(&[("a", "one"), ("b", "two"), ("d/x", "x"), ("same", "same"), ("t", "t")]);
    let project = ground.project();
    let set = |path: &Path| setxattr(path, "user.note", b"kept", XattrFlags::empty());
    if set(&project.join("same")).is_err() {
        metier_testkit::not_tried("extended-attributes", "this file system has no extended attributes");
        return;
    }
    ground.wait();
    let layer = layer(&ground);
    let script = "python3 -c 'import os\nfor path in (\"a\", \"d\", \"t\"): os.setxattr(path, \"user.x\", b\"1\")'; \
        echo more >> b; touch same; touch t; : > d/x";
    if run_in_overlay(&layer, None, script).is_none() {
        return;
    }
    let changes = scan(&layer).unwrap();
    assert_eq!(short(&changes), ["modified b", "modified d/x", "touched same", "touched t"]);
    let refused: Vec<_> =
        changes.refused.iter().map(|refusal| (refusal.path.to_string(), refusal.reason)).collect();
    let reason = RefusalReason::ExtendedAttributes;
    assert_eq!(
        refused,
        [("a", reason), ("d", reason), ("t", reason)].map(|(path, why)| (path.to_owned(), why))
    );
    apply(&layer, &changes, &all(&changes)).unwrap();
}
