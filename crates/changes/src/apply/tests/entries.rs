//! Single entries that need care: special files, closed ones, marks of the overlay, renamed files.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use metier_testkit::Workspace;
use rustix::fs::{CWD, FileType, Mode, XattrFlags, mknodat, setxattr};

use super::{Ground, Node, all, file, plain, read};
use crate::apply::apply;
use crate::change::ChangeKind;
use crate::origin::CallOrigin;
use crate::scan::scan;
use crate::store::LayerStore;

#[test]
fn special_files_and_set_id_bits_stay_behind() {
    let workspace = Workspace::new().dir("layers").dir("project");
    let store = LayerStore::new(&workspace.join("layers"));
    let layer = store.create(&workspace.join("project"), CallOrigin::default()).unwrap();
    let upper = layer.upper();
    fs::create_dir(upper.join("d")).unwrap();
    fs::write(upper.join("d/f"), "text").unwrap();
    mknodat(CWD, upper.join("d/pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    fs::write(upper.join("d/suid"), "x").unwrap();
    fs::set_permissions(upper.join("d/suid"), fs::Permissions::from_mode(0o4755)).unwrap();
    // A mark for something that never was.
    mknodat(CWD, upper.join("d/stray"), FileType::CharacterDevice, Mode::empty(), 0).unwrap();
    let changes = scan(&layer).unwrap();
    let refused: Vec<String> = changes.refused.iter().map(|refused| refused.path.to_string()).collect();
    assert_eq!(refused, ["d/pipe", "d/suid"]);
    apply(&layer, &changes, &all(&changes)).unwrap();
    let expected = plain(&[
        ("d", Node::Folder(0o755)),
        ("d/f", file("text")),
        ("d/suid", Node::File("x".to_owned(), 0o755)),
    ]);
    assert_eq!(read(&workspace.join("project")), expected);
}

#[test]
fn closed_files_and_marks_of_the_overlay_are_handled() {
    let before = plain(&[("d", Node::Folder(0o755)), ("d/x", file("x")), ("d/y", file("y"))]);
    let ground = Ground::new(&before, &before);
    let upper = ground.layer.upper();
    // The folder was deleted and made again, with one file in it.
    fs::create_dir(upper.join("d")).unwrap();
    fs::write(upper.join("d/z"), "z").unwrap();
    let prefix = ground.layer.record().marks.prefix();
    if setxattr(upper.join("d"), format!("{prefix}opaque"), b"y", XattrFlags::empty()).is_err() {
        metier_testkit::not_tried("extended-attributes", "this file system has no extended attributes");
        return;
    }
    fs::set_permissions(upper.join("d/z"), fs::Permissions::from_mode(0o000)).unwrap();
    let changes = scan(&ground.layer).unwrap();
    let seen: Vec<_> = changes.entries.iter().map(|change| (change.path.to_string(), change.kind)).collect();
    assert_eq!(
        seen,
        [
            ("d/x".to_owned(), ChangeKind::Deleted),
            ("d/y".to_owned(), ChangeKind::Deleted),
            ("d/z".to_owned(), ChangeKind::Created)
        ]
    );
    apply(&ground.layer, &changes, &all(&changes)).unwrap();
    let metadata = fs::metadata(ground.project().join("d/z")).unwrap();
    assert_eq!(metadata.mode() & 0o777, 0);
    assert!(!ground.project().join("d/x").exists());
}

#[test]
fn a_renamed_file_is_recognised() {
    let before = plain(&[("a", file("content")), ("b", file("other"))]);
    let after = plain(&[("b", file("other")), ("c", file("content"))]);
    let ground = Ground::new(&before, &after);
    let changes = scan(&ground.layer).unwrap();
    let renamed: Vec<_> = changes.entries.iter().filter_map(|change| change.renamed_from.as_ref()).collect();
    assert_eq!(renamed.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a"]);
}
