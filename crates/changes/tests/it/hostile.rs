//! What a script does to break the programs that look at its work.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use metier_changes::{CallOrigin, Layer, LayerError, LayerState, RefusalDetail, apply, scan};
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

use crate::support::{Ground, all, no_starts, path, put, short, whiteout};

fn layer(ground: &Ground) -> Layer {
    ground.store.create(&ground.project(), CallOrigin::default()).unwrap()
}

fn refused(changes: &metier_changes::ChangeSet) -> Vec<(String, Option<RefusalDetail>)> {
    changes.refused.iter().map(|refusal| (refusal.path.to_string(), refusal.detail)).collect()
}

/// Folders in folders, deeper than any path can name.
fn dig(at: &Path, depth: usize) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder: OwnedFd = openat(CWD, at, flags, Mode::empty()).unwrap();
    for _ in 0..depth {
        mkdirat(&folder, "d", Mode::RWXU).unwrap();
        folder = openat(&folder, "d", flags, Mode::empty()).unwrap();
    }
}

#[test]
fn a_very_deep_tree_is_refused_and_everything_else_works() {
    let ground = Ground::new(&[("a", "one"), ("deep/x", "x")]);
    // The project has such a tree, too.
    dig(&ground.project().join("deep"), 5_000);
    ground.wait();
    let layer = layer(&ground);
    put(&layer.upper().join("n"), "new");
    dig(&layer.upper(), 5_000);
    whiteout(&layer.upper().join("deep"));
    let changes = scan(&layer).unwrap();
    assert!(changes.entries.len() < 1_100, "{}", changes.entries.len());
    let details: Vec<_> = changes.refused.iter().map(|refusal| refusal.detail).collect();
    assert_eq!(details, [Some(RefusalDetail::TooDeep); 2]);
    apply(&layer, &changes, &all(&changes)).unwrap();
    assert_eq!(fs::read_to_string(ground.project().join("n")).unwrap(), "new");
    // What would be deleted in part only is not deleted.
    assert!(ground.project().join("deep/d").exists());
    layer.remove().unwrap();
    // A test's own folder is removed by the standard library, which is not made for this.
    for name in ["deep", "d"] {
        let away = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
        fs::rename(ground.project().join(name), away.upper().join(name)).unwrap();
        away.remove().unwrap();
    }
}

#[test]
fn a_deep_tree_of_a_killed_call_is_found_and_can_be_dropped() {
    let _quiet = no_starts();
    let ground = Ground::new(&[("a", "one")]);
    let layer = layer(&ground);
    dig(&layer.upper(), 3_000);
    let id = layer.id();
    drop(layer);
    let recovered = ground.store.recover(&ground.project()).unwrap();
    assert_eq!((recovered.len(), recovered[0].state), (1, LayerState::Pending));
    let layer = ground.store.open(&id).unwrap();
    layer.discard().unwrap();
    drop(layer);
    assert_eq!(ground.store.prune(&metier_changes::NO_RETENTION).unwrap(), 1);
}

#[test]
fn names_that_metier_uses_itself_never_reach_a_project() {
    let ground =
        Ground::new(&[("inner/.metier-layers/1/journal.json", "theirs"), ("file", "x"), ("d/y", "y")]);
    let layer = layer(&ground);
    let upper = layer.upper();
    put(&upper.join("d/.metier-layers/1/journal.json"), "forged");
    put(&upper.join("new/.metier-stage-1/upper/x"), "forged");
    put(&upper.join("new/plain"), "plain");
    std::os::unix::fs::symlink("elsewhere", upper.join(".METIER-STAGE-2")).unwrap();
    // A folder with such a name in it is not deleted either.
    whiteout(&upper.join("inner"));
    let changes = scan(&layer).unwrap();
    let own = |path: &str| (path.to_owned(), Some(RefusalDetail::OwnName));
    assert_eq!(
        refused(&changes),
        [
            own(".METIER-STAGE-2"),
            own("d/.metier-layers"),
            own("inner/.metier-layers"),
            own("new/.metier-stage-1")
        ]
    );
    assert_eq!(short(&changes), ["deleted inner", "created new", "created new/plain"]);
    let applied = apply(&layer, &changes, &all(&changes)).unwrap();
    assert_eq!(applied.left_out, [path("inner")]);
    let project = ground.project();
    assert!(project.join("new/plain").exists() && !project.join("new/.metier-stage-1").exists());
    assert!(project.join("inner/.metier-layers/1/journal.json").exists());
    assert!(fs::symlink_metadata(project.join(".METIER-STAGE-2")).is_err());
    // Nor by a writer that is not a process.
    let error = layer.put_file(&path("x/.metier-layers/1"), b"forged").unwrap_err();
    assert!(matches!(error, LayerError::OwnName { .. }), "{error}");
}

#[test]
fn holes_are_read_up_to_a_limit() {
    let ground = Ground::new(&[("a", "one")]);
    let layer = layer(&ground);
    let sparse = |name: &str, size: u64| {
        let file = fs::File::create(layer.upper().join(name)).unwrap();
        file.set_len(size).unwrap();
        file.write_all_at(b"data", size / 2).unwrap();
    };
    sparse("huge", 1 << 40);
    sparse("large", 1 << 30);
    let began = Instant::now();
    let changes = scan(&layer).unwrap();
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert_eq!(short(&changes), ["created large"]);
    assert_eq!(refused(&changes), [("huge".to_owned(), Some(RefusalDetail::TooSparse))]);
    apply(&layer, &changes, &all(&changes)).unwrap();
    assert_eq!(fs::metadata(ground.project().join("large")).unwrap().len(), 1 << 30);
}
