//! Where layers are, and how they are found again.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use metier_changes::{CallOrigin, LayerError, LayerState, LayerStore, Retention, apply, scan};
use metier_testkit::Workspace;

use crate::support::{Ground, all, no_starts, path, paths, put};

#[test]
fn a_layer_is_listed_with_its_call_and_found_by_its_id() {
    let _quiet = no_starts();
    let ground = Ground::new(&[("a", "one")]);
    let origin = CallOrigin::new("touch b", "skill:user:todo", "s1");
    let layer = ground.store.create(&ground.project(), origin.clone()).unwrap();
    let id = layer.id();
    let rows = ground.store.list(Some(&ground.project()));
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0].id, &rows[0].origin, rows[0].state), (&id, &origin, LayerState::Running));
    assert!(ground.store.list(Some(Path::new("/elsewhere"))).is_empty());
    assert!(matches!(ground.store.open(&id), Err(LayerError::Busy { .. })));
    assert!(matches!(ground.store.open("../x"), Err(LayerError::Unknown { .. })));
    put(&layer.upper().join("b"), "two");
    drop(layer);
    // Its process was killed: the next one finds what it wrote.
    let recovered = ground.store.recover(&ground.project()).unwrap();
    assert_eq!((recovered.len(), recovered[0].state), (1, LayerState::Pending));
    assert!(ground.store.recover(&ground.project()).unwrap().is_empty());
    let layer = ground.store.open(&id).unwrap();
    assert_eq!(layer.pending().unwrap().entries[0].path, path("b"));
}

#[test]
fn layers_beside_a_project_are_found_by_a_store_that_never_saw_it() {
    let _quiet = no_starts();
    // The data folder lies in the project, as it does for a person whose project is the home folder.
    let workspace = Workspace::new().dir("home/.local/share/metier");
    let (project, data) = (workspace.join("home"), workspace.join("home/.local/share/metier"));
    let layer = LayerStore::new(&data).create(&project, CallOrigin::default()).unwrap();
    assert!(layer.upper().starts_with(workspace.join(".metier-layers")));
    assert_eq!(fs::metadata(workspace.join(".metier-layers")).unwrap().mode() & 0o777, 0o700);
    let id = layer.id();
    drop(layer);
    let store = LayerStore::new(&data);
    assert_eq!(store.list(None)[0].id, id);
    store.recover(&project).unwrap();
    let layer = store.open(&id).unwrap();
    layer.discard().unwrap();
    drop(layer);
    let nothing = Retention { age: std::time::Duration::ZERO, layers: 0 };
    assert_eq!(store.prune(&nothing).unwrap(), 1);
    assert!(!workspace.join(".metier-layers").exists());
}

#[test]
fn only_decided_layers_are_removed_and_the_youngest_stay() {
    let _quiet = no_starts();
    let ground = Ground::new(&[]);
    let make = |name: &str| {
        let layer = ground.store.create(&ground.project(), CallOrigin::new(name, "agent", "s")).unwrap();
        put(&layer.upper().join(name), name);
        let changes = scan(&layer).unwrap();
        (layer, changes)
    };
    let (pending, _) = make("pending");
    for name in ["first", "second"] {
        let (layer, changes) = make(name);
        apply(&layer, &changes, &all(&changes)).unwrap();
    }
    let (discarded, _) = make("discarded");
    discarded.discard().unwrap();
    drop((pending, discarded));
    let two = Retention { age: std::time::Duration::from_hours(1), layers: 2 };
    assert_eq!(ground.store.prune(&two).unwrap(), 1);
    let left: Vec<String> = ground.store.list(None).into_iter().map(|row| row.origin.command).collect();
    assert_eq!(left, ["pending", "second", "discarded"]);
    let none = Retention { age: std::time::Duration::ZERO, layers: 2 };
    ground.wait();
    assert_eq!(ground.store.prune(&none).unwrap(), 2);
    assert_eq!(ground.store.list(None)[0].state, LayerState::Pending);
}

#[test]
fn old_layers_go_without_anybody_listing_them() {
    let _quiet = no_starts();
    let ground = Ground::new(&[]);
    let one = Retention { age: std::time::Duration::from_hours(1), layers: 1 };
    let kept_after = |name: &str| {
        let layer = ground.store.create(&ground.project(), CallOrigin::new(name, "agent", "s")).unwrap();
        put(&layer.upper().join(name), name);
        let changes = scan(&layer).unwrap();
        apply(&layer, &changes, &all(&changes)).unwrap();
        drop(layer);
        ground.store.prune_hourly(&one).unwrap();
        ground.store.list(None).len()
    };
    assert_eq!([kept_after("a"), kept_after("b"), kept_after("c")], [1, 2, 3]);
    let stamp = fs::File::options().write(true).open(ground.workspace.join("data/layers/pruned")).unwrap();
    stamp.set_modified(std::time::SystemTime::now() - std::time::Duration::from_hours(2)).unwrap();
    assert_eq!(kept_after("d"), 1);
}

/// Every command looks at the layers of its project, so those that were applied are not read whole.
#[test]
fn applied_layers_are_not_read_again_and_half_a_list_is_scanned_again() {
    let _quiet = no_starts();
    let ground = Ground::new(&[]);
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    put(&layer.upper().join("a"), "1");
    put(&layer.upper().join("b"), "2");
    let changes = scan(&layer).unwrap();
    apply(&layer, &changes, &paths(&["a"])).unwrap();
    let list = layer.upper().parent().unwrap().join("changes.json");
    drop(layer);
    assert_eq!(ground.store.recover(&ground.project()).unwrap(), []);
    let text = fs::read_to_string(&list).unwrap();
    fs::write(&list, &text[..text.len() / 2]).unwrap();
    let recovered = ground.store.recover(&ground.project()).unwrap();
    assert_eq!(recovered.len(), 1, "{recovered:?}");
    assert!(fs::read_to_string(&list).unwrap().ends_with('}'));
}

#[test]
fn the_layers_of_calls_that_change_nothing_are_gone_with_their_store_and_the_next_is_ready() {
    let _quiet = no_starts();
    let ground = Ground::new(&[("a", "one")]);
    let place = |layer: &metier_changes::Layer| layer.upper().parent().unwrap().parent().unwrap().to_owned();
    let names = |place: &std::path::Path| -> Vec<String> {
        let entries = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(|name| name.into_string().unwrap()).collect()
    };
    let mut at = None;
    for _ in 0..20 {
        let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
        assert!(layer.is_untouched().unwrap());
        at = Some(place(&layer));
        assert!(!layer.id().starts_with("spare"), "{}", layer.id());
        ground.store.retire(layer).unwrap();
    }
    let at = at.unwrap();
    // A layer that was made ahead belongs to no call: no list has it, and no other process removes it.
    assert!(ground.store.list(None).iter().all(|row| !row.id.starts_with("spare")));
    ground.store.prune(&Retention { age: std::time::Duration::ZERO, layers: 0 }).unwrap();
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    put(&layer.upper().join("b"), "two");
    assert!(!layer.is_untouched().unwrap());
    let changes = scan(&layer).unwrap();
    apply(&layer, &changes, &all(&changes)).unwrap();
    let kept = layer.id();
    drop(layer);
    drop(ground.store);
    assert_eq!(names(&at), [kept]);
}

#[test]
fn a_change_between_the_making_of_a_layer_and_its_call_is_not_a_conflict() {
    let _quiet = no_starts();
    let ground = Ground::new(&[("a", "one")]);
    for _ in 0..3 {
        let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
        ground.store.retire(layer).unwrap();
    }
    put(&ground.project().join("a"), "by another program, before the call");
    ground.wait();
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    put(&layer.upper().join("a"), "by the call");
    let changes = scan(&layer).unwrap();
    assert_eq!(changes.entries[0].conflict, None);
}
