//! What another program does meanwhile.

use std::fs;

use metier_changes::{ApplyError, CallOrigin, ChangeSet, ConflictReason, LayerStore, apply, scan};

use crate::support::{Ground, all, paths, put, run_in_overlay};

fn conflicts(changes: &ChangeSet) -> Vec<(String, ConflictReason)> {
    let found = changes.entries.iter();
    found.filter_map(|change| Some((change.path.to_string(), change.conflict?))).collect()
}

#[test]
fn a_database_is_changed_with_its_log() {
    let files = [("a.db", "one"), ("a.db-wal", "log"), ("b.db", "two"), ("c.db", "three")];
    let written = |name: &str| (name.to_owned(), ConflictReason::Changed);
    // The log alone is written while the call runs.
    let ground = Ground::new(&files);
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    for name in ["a.db", "b.db", "c.db-journal"] {
        put(&layer.upper().join(name), "changed");
    }
    fs::write(ground.project().join("a.db-wal"), "more").unwrap();
    fs::write(ground.project().join("c.db"), "more").unwrap();
    let changes = scan(&layer).unwrap();
    assert_eq!(conflicts(&changes), [written("a.db"), written("c.db-journal")]);
    apply(&layer, &changes, &paths(&["b.db"])).unwrap();
    // Or before the decision.
    let ground = Ground::new(&files);
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    put(&layer.upper().join("a.db"), "changed");
    let changes = scan(&layer).unwrap();
    assert_eq!(conflicts(&changes), []);
    fs::write(ground.project().join("a.db-wal"), "more").unwrap();
    let error = apply(&layer, &changes, &all(&changes)).unwrap_err();
    assert_eq!(error.to_string(), "the project changed meanwhile: a.db was changed by another program");
    assert_eq!(fs::read_to_string(ground.project().join("a.db")).unwrap(), "one");
}

#[test]
fn a_folder_that_was_exchanged_and_written_since_is_noticed() {
    let ground = Ground::new(&[("d/x", "x"), ("d/deep/y", "y"), ("e/x", "theirs"), ("e/deep/y", "theirs")]);
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    if run_in_overlay(&layer, None, "echo changed > d/x; echo changed > d/deep/y").is_none() {
        return;
    }
    let project = ground.project();
    fs::rename(project.join("d"), project.join("was-d")).unwrap();
    fs::rename(project.join("e"), project.join("d")).unwrap();
    // Afterwards the folder's times say only that something was made in it, and its files are as old as ever.
    fs::write(project.join("d/new"), "theirs").unwrap();
    let changes = scan(&layer).unwrap();
    assert!(conflicts(&changes).iter().any(|(path, _)| path == "d/deep/y"), "{:?}", conflicts(&changes));
    let error = apply(&layer, &changes, &paths(&["d/deep/y"])).unwrap_err();
    assert!(matches!(error, ApplyError::Conflicts(_)), "{error}");
    assert_eq!(fs::read_to_string(project.join("d/deep/y")).unwrap(), "theirs");
}

/// A script writes a file and starts metier at once: the file has the time of the clock's last tick, and the call must begin with
/// a later one.
#[test]
fn what_was_written_right_before_a_process_began_is_not_a_conflict() {
    let ground = Ground::new(&[("a", "one")]);
    for number in 0..60 {
        fs::write(ground.project().join("a"), number.to_string()).unwrap();
        let store = LayerStore::new(&ground.workspace.join("data"));
        let layer = store.create(&ground.project(), CallOrigin::default()).unwrap();
        put(&layer.upper().join("a"), "changed");
        assert_eq!(conflicts(&scan(&layer).unwrap()), [], "{number}");
        layer.remove().unwrap();
    }
}
