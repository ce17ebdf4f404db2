//! A layer on another file system than its project.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use metier_changes::{CallOrigin, Layer, LayerStore, apply, scan, undo};
use metier_testkit::Workspace;

use crate::support::{all, close, put, tree, wait_for_tick, whiteout};

/// A folder in memory, removed at the end.
struct Memory(PathBuf);

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A layer in memory for a project that is not. The file beside the project keeps the store from making a folder there.
fn remote(files: &[(&str, &str)]) -> Option<(Workspace, Memory, LayerStore, Layer)> {
    let mut workspace = Workspace::new().dir("project").file(".metier-layers", "");
    for (path, text) in files {
        workspace = workspace.file(format!("project/{path}"), text);
    }
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
    let memory = Memory(Path::new("/dev/shm").join(workspace.path().file_name().unwrap()));
    if device(Path::new("/dev/shm")).is_none()
        || device(Path::new("/dev/shm")) == device(workspace.path())
        || fs::create_dir(&memory.0).is_err()
    {
        metier_testkit::not_tried("second-file-system", "there is no second file system at /dev/shm");
        return None;
    }
    wait_for_tick(workspace.path());
    let store = LayerStore::new(&memory.0);
    let layer = store.create(&workspace.join("project"), CallOrigin::default()).unwrap();
    if !layer.upper().starts_with(&memory.0) {
        metier_testkit::not_tried("extended-attributes", "/dev/shm has no extended attributes");
        return None;
    }
    Some((workspace, memory, store, layer))
}

#[test]
fn it_is_applied_by_copying_and_leaves_nothing_in_the_project() {
    let files = [("a", "one"), ("d/x", "x"), ("gone/y", "y"), ("kind", "file")];
    let Some((workspace, _memory, store, layer)) = remote(&files) else { return };
    let project = workspace.join("project");
    let before = tree(&project);
    let upper = layer.upper();
    put(&upper.join("a"), "changed");
    put(&upper.join("d/new/deep"), "deep");
    close(&upper.join("d/new/deep"), 0o600);
    close(&upper.join("d/new"), 0o711);
    whiteout(&upper.join("gone"));
    symlink("../a", upper.join("d/link")).unwrap();
    put(&upper.join("kind/inner"), "a folder now");
    let sparse = fs::File::create(upper.join("sparse")).unwrap();
    sparse.set_len(64 << 20).unwrap();
    drop(sparse);
    let changes = scan(&layer).unwrap();
    apply(&layer, &changes, &all(&changes)).unwrap();
    assert_eq!(fs::read_to_string(project.join("a")).unwrap(), "changed");
    assert_eq!(fs::metadata(project.join("d/new")).unwrap().mode() & 0o777, 0o711);
    assert_eq!(fs::metadata(project.join("d/new/deep")).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::read_link(project.join("d/link")).unwrap(), Path::new("../a"));
    assert_eq!(fs::read_to_string(project.join("kind/inner")).unwrap(), "a folder now");
    assert!(!project.join("gone").exists());
    let (from, to) =
        (fs::metadata(upper.join("sparse")).unwrap(), fs::metadata(project.join("sparse")).unwrap());
    assert_eq!((to.len(), to.mtime_nsec()), (from.len(), from.mtime_nsec()));
    assert!(to.blocks() < 1024, "{} blocks for a file of holes", to.blocks());
    let names: Vec<PathBuf> = tree(&project).into_keys().collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains("metier")), "{names:?}");
    assert_eq!(store.list(Some(&project))[0].applied, changes.entries.len());
    undo(&layer).unwrap();
    assert_eq!(tree(&project), before);
}

#[test]
fn a_conflict_leaves_the_project_as_it_is() {
    let Some((workspace, _memory, _store, layer)) = remote(&[("a", "one")]) else { return };
    let project = workspace.join("project");
    put(&layer.upper().join("a"), "changed");
    put(&layer.upper().join("n"), "new");
    let changes = scan(&layer).unwrap();
    fs::write(project.join("n"), "theirs").unwrap();
    let theirs = tree(&project);
    assert!(apply(&layer, &changes, &all(&changes)).is_err());
    assert_eq!(tree(&project), theirs);
}
