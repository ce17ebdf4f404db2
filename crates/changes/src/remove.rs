//! Removes a folder, however deep it is and whatever its permissions are.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, chmodat, fchmod, openat, renameat_with, statat,
    unlinkat,
};
use rustix::io::Errno;

/// How an inner folder is called while it waits to be removed.
const WAITING_PREFIX: &str = "removing-";

/// Removes a folder with everything in it; one that is gone is removed. The overlay leaves `work/work` closed, and a script can
/// close its own folders.
///
/// Inner folders are moved to the top first. So neither the stack nor the number of open files nor the length of a path limits
/// how deep a tree may be that a script has made.
pub(crate) fn remove_tree(folder: &Path) -> io::Result<()> {
    let Some(top) = open_folder(CWD, folder)? else { return Ok(()) };
    let mut waiting = Waiting { top, names: Vec::new(), next: 0 };
    let inner = empty(&waiting.top)?;
    // At the top already.
    waiting.names.extend(inner);
    while let Some(name) = waiting.names.pop() {
        if let Some(folder) = open_folder(&waiting.top, &name)? {
            for inner in empty(&folder)? {
                waiting.move_up(&folder, &inner)?;
            }
        }
        gone(unlinkat(&waiting.top, &name, AtFlags::REMOVEDIR))?;
    }
    Ok(gone(unlinkat(CWD, folder, AtFlags::REMOVEDIR))?)
}

struct Waiting {
    top: OwnedFd,
    /// Folders at the top that are not removed yet.
    names: Vec<OsString>,
    next: u64,
}

impl Waiting {
    fn move_up(&mut self, folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
        // A folder that gets another parent is written itself.
        make_open(folder, name)?;
        loop {
            let to = OsString::from(format!("{WAITING_PREFIX}{}", self.next));
            self.next += 1;
            match renameat_with(folder, name, &self.top, &to, RenameFlags::NOREPLACE) {
                // What the folder itself held under this name.
                Err(Errno::EXIST) => {}
                moved => {
                    gone(moved)?;
                    self.names.push(to);
                    return Ok(());
                }
            }
        }
    }
}

/// Removes what is not a folder, and gives the names of the folders. Files are unlinked, links and devices too.
fn empty(folder: &OwnedFd) -> io::Result<Vec<OsString>> {
    let mut folders = Vec::new();
    // Read before something is removed: some file systems pass entries over otherwise.
    for entry in Dir::read_from(folder)?.collect::<Result<Vec<_>, _>>()? {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        if kind == FileType::Directory {
            folders.push(name.to_owned());
        } else {
            gone(unlinkat(folder, name, AtFlags::empty()))?;
        }
    }
    Ok(folders)
}

/// Opens a folder to be emptied, never through a link; `None` where it is gone.
fn open_folder(at: impl std::os::fd::AsFd, name: impl AsRef<Path>) -> io::Result<Option<OwnedFd>> {
    let name = name.as_ref();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match openat(&at, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            make_open(&at, name)?;
            openat(&at, name, flags, Mode::empty())
        }
        opened => opened,
    };
    match opened {
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(folder) => {
            fchmod(&folder, Mode::RWXU)?;
            Ok(Some(folder))
        }
    }
}

/// Gives a folder to its owner. A link in its place is not followed.
fn make_open(at: impl std::os::fd::AsFd, name: impl AsRef<Path>) -> io::Result<()> {
    let name = name.as_ref();
    let stat = statat(&at, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory && stat.st_mode & 0o700 != 0o700 {
        chmodat(&at, name, Mode::RWXU, AtFlags::empty())?;
    }
    Ok(())
}

/// Another process may remove the same.
fn gone(done: Result<(), Errno>) -> Result<(), Errno> {
    match done {
        Err(Errno::NOENT) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use metier_testkit::Workspace;
    use rustix::fs::mkdirat;

    use super::*;

    #[test]
    fn a_tree_of_any_depth_is_removed_and_links_are_not_followed() {
        let workspace = Workspace::new().file("kept/file", "kept").dir("tree/removing-0/x");
        let top = workspace.join("tree");
        symlink(workspace.join("kept"), top.join("link")).unwrap();
        let mut folder = openat(CWD, &top, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..20_000 {
            mkdirat(&folder, "d", Mode::RWXU).unwrap();
            folder = openat(&folder, "d", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        fs::create_dir_all(top.join("closed/inner")).unwrap();
        fs::set_permissions(top.join("closed/inner"), fs::Permissions::from_mode(0o0)).unwrap();
        fs::set_permissions(top.join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
        remove_tree(&top).unwrap();
        assert!(!top.exists());
        assert_eq!(fs::read_to_string(workspace.join("kept/file")).unwrap(), "kept");
        remove_tree(&top).unwrap();
        symlink(workspace.join("kept"), &top).unwrap();
        assert!(remove_tree(&top).is_err());
        assert!(workspace.join("kept/file").exists());
    }
}
