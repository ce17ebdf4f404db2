//! Single files outside skills.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use metier_files::{Kind, Mode, create_new_dir, kind, read_bounded, real_path, write_atomic, write_new};
use metier_testkit::Workspace;

use crate::support::{StopOnDrop, as_somebody, never_hangs};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_read_is_bounded_and_nothing_is_none() {
    let workspace = Workspace::new().file("file", "0123456789").dir("folder").symlink("link", "file");
    assert_eq!(read_bounded(&workspace.join("file"), 10).unwrap().unwrap(), b"0123456789");
    assert_eq!(read_bounded(&workspace.join("link"), 10).unwrap().unwrap(), b"0123456789");
    assert_eq!(read_bounded(&workspace.join("missing"), 10).unwrap(), None);
    assert_eq!(read_bounded(&workspace.join("file/below"), 10).unwrap(), None);
    let error = read_bounded(&workspace.join("file"), 9).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    assert!(error.to_string().ends_with("has 10 bytes, more than the limit of 9"));
    assert_eq!(read_bounded(&workspace.join("folder"), 9).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn reading_never_waits() {
    let workspace = Workspace::new().fifo("pipe").socket("socket");
    never_hangs(move || {
        for name in ["pipe", "socket"] {
            assert_eq!(read_bounded(&workspace.join(name), 9).unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        assert_eq!(read_bounded("/dev/zero".as_ref(), 9).unwrap_err().kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn kinds_are_told_apart() {
    let workspace = Workspace::new()
        .file("file", "x")
        .dir("folder")
        .fifo("pipe")
        .symlink("to-file", "file")
        .symlink("to-folder", "folder")
        .symlink("to-nothing", "missing");
    let table = [
        ("file", Kind::File),
        ("folder", Kind::Folder),
        ("pipe", Kind::Other),
        ("to-file", Kind::File),
        ("to-folder", Kind::Folder),
        ("to-nothing", Kind::Missing),
        ("missing", Kind::Missing),
        ("file/below", Kind::Missing),
    ];
    for (name, expected) in table {
        assert_eq!(kind(&workspace.join(name)), expected, "{name}");
    }
    assert_eq!(real_path(&workspace.join("to-file")).unwrap(), workspace.join("file"));
}

#[test]
fn a_write_makes_folders_and_leaves_nothing_beside_the_file() {
    let workspace = Workspace::new();
    let path = workspace.join("a/b/config.toml");
    write_atomic(&path, b"one", Mode::Shared).unwrap();
    write_atomic(&path, b"two", Mode::Shared).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(names(&workspace.join("a/b")), ["config.toml"]);
}

#[test]
fn a_new_file_has_the_mode_and_an_old_one_keeps_its_own() {
    let workspace = Workspace::new().file("old", "x").mode("old", 0o640);
    write_atomic(&workspace.join("private"), b"x", Mode::Private).unwrap();
    assert_eq!(mode(&workspace.join("private")), 0o600);
    write_atomic(&workspace.join("run"), b"x", Mode::Executable).unwrap();
    assert_eq!(mode(&workspace.join("run")) & 0o700, 0o700);
    write_atomic(&workspace.join("old"), b"y", Mode::Private).unwrap();
    assert_eq!(mode(&workspace.join("old")), 0o640);
}

#[test]
fn the_owner_stays_when_root_writes() {
    let workspace = Workspace::new().file("theirs", "x");
    let path = workspace.join("theirs");
    if std::os::unix::fs::chown(&path, Some(65534), Some(65534)).is_err() {
        metier_testkit::not_tried("root", "only root can give a file away");
        return;
    }
    write_atomic(&path, b"y", Mode::Shared).unwrap();
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (65534, 65534));
}

#[test]
fn a_link_stays_a_link_and_its_target_is_written() {
    let workspace = Workspace::new()
        .file("dotfiles/config", "old")
        .symlink("home/config", "../dotfiles/config")
        .symlink("home/config-2", "config")
        .symlink("home/new", "../dotfiles/new")
        .symlink("home/loop", "loop");
    write_atomic(&workspace.join("home/config-2"), b"new", Mode::Shared).unwrap();
    assert_eq!(fs::read(workspace.join("dotfiles/config")).unwrap(), b"new");
    assert!(fs::symlink_metadata(workspace.join("home/config")).unwrap().is_symlink());
    assert!(fs::symlink_metadata(workspace.join("home/config-2")).unwrap().is_symlink());
    write_atomic(&workspace.join("home/new"), b"new", Mode::Shared).unwrap();
    assert_eq!(fs::read(workspace.join("dotfiles/new")).unwrap(), b"new");
    write_atomic(&workspace.join("home/loop"), b"x", Mode::Shared).unwrap_err();
}

#[test]
fn only_files_are_replaced() {
    let workspace = Workspace::new().dir("folder").fifo("pipe");
    for name in ["folder", "pipe"] {
        let error = write_atomic(&workspace.join(name), b"x", Mode::Shared).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name}");
    }
    assert_eq!(names(workspace.path()), ["folder", "pipe"]);
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let workspace = Workspace::new()
        .mode(".", 0o755)
        .file("folder/config", "old")
        .mode("folder", 0o555)
        .mode("folder/config", 0o666);
    as_somebody(|| {
        let error = write_atomic(&workspace.join("folder/config"), b"new", Mode::Shared).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    });
    assert_eq!(fs::read(workspace.join("folder/config")).unwrap(), b"old");
    assert_eq!(names(&workspace.join("folder")), ["config"]);
}

#[test]
fn a_reader_sees_the_old_bytes_or_the_new_ones() {
    let workspace = Workspace::new().file("config", "a".repeat(100_000));
    let path = workspace.join("config");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        for letter in ["b", "c"] {
            let (path, stop) = (&path, &stop);
            scope.spawn(move || {
                let text = letter.repeat(100_000);
                while !stop.load(Ordering::Relaxed) {
                    write_atomic(path, text.as_bytes(), Mode::Shared).unwrap();
                }
            });
        }
        for _ in 0..200 {
            let bytes = read_bounded(&path, 100_000).unwrap().unwrap();
            assert_eq!(bytes.len(), 100_000);
            assert!(bytes.iter().all(|byte| *byte == bytes[0]));
        }
    });
    assert_eq!(names(workspace.path()), ["config"]);
}

#[test]
fn new_things_never_replace_old_ones() {
    let workspace = Workspace::new().file("file", "old").dir("folder");
    symlink("missing", workspace.join("dangling")).unwrap();
    for name in ["file", "folder", "dangling"] {
        let error = write_new(&workspace.join(name), b"new", Mode::Shared).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{name}");
        let error = create_new_dir(&workspace.join(name)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{name}");
    }
    assert_eq!(fs::read(workspace.join("file")).unwrap(), b"old");

    create_new_dir(&workspace.join("a/b")).unwrap();
    write_new(&workspace.join("a/b/c/run.sh"), b"new", Mode::Executable).unwrap();
    assert_eq!(fs::read(workspace.join("a/b/c/run.sh")).unwrap(), b"new");
    assert_eq!(mode(&workspace.join("a/b/c/run.sh")) & 0o100, 0o100);
}
