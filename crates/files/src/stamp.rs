use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What the system says of a file or folder without opening it. Equal stamps mean that nothing was written, renamed into
/// its place or, for a folder, made or removed in it.
///
/// The time of the last change of the inode is part of it: programs that copy or unpack set the time of modification to
/// an old one, and this one cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of what is at `path`, links followed; `None` where nothing is or it cannot be looked at.
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

/// Whether a link is at `path`, wherever it leads.
pub fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn a_stamp_changes_with_what_it_stands_for() {
        let workspace = Workspace::new().file("a/file", "1").symlink("link", "a/file");
        let (file, folder) = (workspace.join("a/file"), workspace.join("a"));
        let before = (Stamp::of(&file).unwrap(), Stamp::of(&folder).unwrap());
        assert_eq!((Stamp::of(&file).unwrap(), Stamp::of(&folder).unwrap()), before);
        assert_eq!(Stamp::of(&workspace.join("link")).unwrap(), before.0);
        assert_eq!(Stamp::of(&workspace.join("none")), None);
        fs::write(folder.join("temporary"), "22").unwrap();
        fs::rename(folder.join("temporary"), &file).unwrap();
        assert_ne!(Stamp::of(&file).unwrap(), before.0);
        assert_ne!(Stamp::of(&folder).unwrap(), before.1);
        assert!(is_link(&workspace.join("link")) && !is_link(&file) && !is_link(&workspace.join("none")));
    }
}
