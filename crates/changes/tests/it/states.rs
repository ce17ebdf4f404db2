//! A decision now, another one later, and back.

use std::fs;

use metier_changes::{ApplyError, CallOrigin, Layer, LayerState, apply, scan, undo};

use crate::support::{Ground, all, close, paths, put, short, tree, whiteout};

fn work(ground: &Ground) -> Layer {
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    put(&layer.upper().join("a"), "changed");
    put(&layer.upper().join("n"), "new");
    whiteout(&layer.upper().join("b"));
    layer
}

#[test]
fn what_was_not_selected_is_applied_later_and_undone_in_reverse() {
    let ground = Ground::new(&[("a", "one"), ("b", "two")]);
    let before = tree(&ground.project());
    let layer = work(&ground);
    let changes = scan(&layer).unwrap();
    assert_eq!(layer.state().unwrap(), LayerState::Pending);
    apply(&layer, &changes, &paths(&["a"])).unwrap();
    assert_eq!(layer.state().unwrap(), LayerState::Pending);
    let between = tree(&ground.project());
    let pending = layer.pending().unwrap();
    assert_eq!(all(&pending), paths(&["b", "n"]));
    let id = layer.id();
    drop(layer);
    // Another process, later.
    let layer = ground.store.open(&id).unwrap();
    apply(&layer, &layer.pending().unwrap(), &all(&pending)).unwrap();
    assert_eq!(layer.state().unwrap(), LayerState::Applied);
    assert!(!ground.project().join("b").exists());
    assert!(undo(&layer).unwrap().is_some());
    assert_eq!(tree(&ground.project()), between);
    assert_eq!(layer.state().unwrap(), LayerState::Undone);
    assert!(undo(&layer).unwrap().is_some());
    assert_eq!(tree(&ground.project()), before);
    assert!(undo(&layer).unwrap().is_none());
    // And once more.
    apply(&layer, &layer.pending().unwrap(), &all(&changes)).unwrap();
    assert_eq!(layer.state().unwrap(), LayerState::Applied);
    assert_eq!(fs::read_to_string(ground.project().join("a")).unwrap(), "changed");
}

/// A person discards what another process has applied since it was listed.
#[test]
fn what_is_in_the_project_is_not_discarded() {
    let ground = Ground::new(&[("a", "one"), ("b", "two")]);
    let layer = work(&ground);
    let changes = scan(&layer).unwrap();
    assert_eq!(ground.store.list(None)[0].state, LayerState::Pending);
    apply(&layer, &changes, &all(&changes)).unwrap();
    let error = layer.discard().unwrap_err();
    assert!(error.to_string().contains("metier changes undo"), "{error}");
    assert_eq!(layer.state().unwrap(), LayerState::Applied);
    // What waits still is discarded.
    undo(&layer).unwrap();
    layer.discard().unwrap();
    assert_eq!(layer.state().unwrap(), LayerState::Discarded);
}

#[test]
fn a_discarded_layer_keeps_its_bytes_and_can_be_applied() {
    let ground = Ground::new(&[("a", "one"), ("b", "two")]);
    let layer = work(&ground);
    let changes = scan(&layer).unwrap();
    layer.discard().unwrap();
    assert_eq!(layer.state().unwrap(), LayerState::Discarded);
    apply(&layer, &changes, &all(&changes)).unwrap();
    assert_eq!(layer.state().unwrap(), LayerState::Applied);
    assert_eq!(fs::read_to_string(ground.project().join("n")).unwrap(), "new");
}

#[test]
fn what_changed_before_the_decision_is_a_conflict_and_the_rest_can_be_applied() {
    let ground = Ground::new(&[("a", "one"), ("b", "two")]);
    let layer = work(&ground);
    let changes = scan(&layer).unwrap();
    fs::write(ground.project().join("a"), "theirs").unwrap();
    let error = apply(&layer, &changes, &all(&changes)).unwrap_err();
    assert!(matches!(error, ApplyError::Conflicts(_)), "{error}");
    assert_eq!(fs::read_to_string(ground.project().join("a")).unwrap(), "theirs");
    assert_eq!(layer.state().unwrap(), LayerState::Pending);
    apply(&layer, &changes, &paths(&["b", "n"])).unwrap();
    assert_eq!(all(&layer.pending().unwrap()), paths(&["a"]));
}

#[test]
fn folders_that_their_owner_cannot_write_are_applied_and_undone() {
    let ground = Ground::new(&[("a", "one")]);
    let before = tree(&ground.project());
    for selected in [&["d", "d/e", "d/e/f"][..], &["d", "d/e", "d/e/f", "d/g"][..]] {
        let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
        put(&layer.upper().join("d/e/f"), "x");
        put(&layer.upper().join("d/g"), "y");
        close(&layer.upper().join("d/e"), 0o555);
        close(&layer.upper().join("d"), 0o500);
        let changes = scan(&layer).unwrap();
        apply(&layer, &changes, &paths(selected)).unwrap();
        let after = tree(&ground.project());
        let mode = |path: &str| after[std::path::Path::new(path)].0 & 0o777;
        assert_eq!((mode("d"), mode("d/e")), (0o500, 0o555));
        undo(&layer).unwrap();
        assert_eq!(tree(&ground.project()), before);
        layer.remove().unwrap();
    }
}

#[test]
fn a_project_whose_folder_the_script_closed_is_read_and_named() {
    let ground = Ground::new(&[("a", "one")]);
    for mode in [0o000, 0o300, 0o711] {
        let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
        put(&layer.upper().join("b"), "new");
        close(&layer.upper(), mode);
        assert!(!layer.is_untouched().unwrap(), "{mode:o}");
        let changes = scan(&layer).unwrap();
        let refused: Vec<_> = changes.refused.iter().map(|refusal| refusal.path.to_string()).collect();
        assert_eq!(
            (short(&changes), refused),
            (vec!["created b".to_owned()], vec![".".to_owned()]),
            "{mode:o}"
        );
        // It is read again from the disk.
        assert_eq!(layer.changes().unwrap(), changes, "{mode:o}");
    }
}
