//! One at a time in a folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Held by whoever changes a folder in several steps. It ends when it is dropped, also when the process dies, and leaves
/// nothing behind: the folder itself is locked and not a file in it, which whoever writes there could remove or replace.
#[derive(Debug)]
pub struct FolderLock(#[expect(dead_code, reason = "it is held, not used")] File);

impl FolderLock {
    /// Takes it, or gives `None` when somebody else has it.
    pub fn try_take(folder: &Path) -> io::Result<Option<Self>> {
        let file = open(folder)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Takes it, and waits until it can be had.
    pub fn take(folder: &Path) -> io::Result<Self> {
        let file = open(folder)?;
        file.lock()?;
        Ok(Self(file))
    }
}

/// Opens the folder and nothing else: neither a link in its place nor a file.
fn open(folder: &Path) -> io::Result<File> {
    let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits();
    OpenOptions::new().read(true).custom_flags(i32::try_from(flags).unwrap_or_default()).open(folder)
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn one_has_it_and_the_next_gets_it_afterwards() {
        let workspace = Workspace::new().dir("data").symlink("link", "data").file("file", "x");
        let held = FolderLock::try_take(&workspace.join("data")).unwrap();
        assert!(held.is_some());
        assert!(FolderLock::try_take(&workspace.join("data")).unwrap().is_none());
        drop(held);
        assert!(FolderLock::take(&workspace.join("data")).is_ok());
        assert!(FolderLock::try_take(&workspace.join("link")).is_err());
        assert!(FolderLock::try_take(&workspace.join("file")).is_err());
    }
}
