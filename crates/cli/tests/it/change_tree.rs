//! A folder as a value: everything by which two states of a project can differ.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// One entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Folder { mode: u32 },
    File { mode: u32, content: Vec<u8> },
    Link { target: OsString },
}

/// Every entry by its path.
pub(crate) type Tree = BTreeMap<OsString, Entry>;

/// Reads a folder whole. A folder that its owner closed is opened for it, after its permissions were noted.
pub(crate) fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let mode = metadata.permissions().mode() & 0o7777;
            let entry = if metadata.is_dir() {
                if mode & 0o500 != 0o500 {
                    std::fs::set_permissions(&path, Permissions::from_mode(mode | 0o700)).unwrap();
                }
                folders.push(path.clone());
                Entry::Folder { mode }
            } else if metadata.is_symlink() {
                Entry::Link { target: std::fs::read_link(&path).unwrap().into() }
            } else {
                Entry::File { mode, content: std::fs::read(&path).unwrap() }
            };
            tree.insert(path.strip_prefix(folder).unwrap().into(), entry);
        }
    }
    tree
}

/// What differs between two trees, for a message.
pub(crate) fn difference(expected: &Tree, found: &Tree) -> String {
    let mut paths: Vec<&OsString> = expected.keys().chain(found.keys()).collect();
    paths.sort_unstable();
    paths.dedup();
    let different = paths.into_iter().filter(|path| expected.get(*path) != found.get(*path));
    let line = |path: &OsString| {
        format!("{}: {:?} became {:?}", path.display(), expected.get(path), found.get(path))
    };
    different.take(20).map(line).collect::<Vec<_>>().join("\n")
}
