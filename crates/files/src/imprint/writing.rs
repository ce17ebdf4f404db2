//! Putting an imprint on the disk as a whole.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{DATE, Imprint, at};
use crate::FolderLock;

impl Imprint {
    /// Makes `folder` what it has to be, whatever is there now. The one above it has to be there.
    ///
    /// It is written beside and put in place in one step, so whoever looks sees all of the old or all of the new, and any
    /// number of processes can do this at once. What was there before is removed, unless it is the same.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let temporary = make_beside(folder)?;
        let placed = self.fill(&temporary).and_then(|()| {
            // One at a time, and only where it is still needed: what another process has put there meanwhile is read by
            // others already, and must not vanish under them. Without the lock, on file systems that have none, the
            // move is still one step.
            let _lock = folder.parent().and_then(|above| FolderLock::take(above).ok());
            if self.glance(folder).is_ok() { Ok(()) } else { put_in_place(&temporary, folder) }
        });
        // Now either what was there before, or what we failed to write.
        let removed = match fs::symlink_metadata(&temporary) {
            Ok(left) if left.is_dir() => fs::remove_dir_all(&temporary),
            Ok(_) => fs::remove_file(&temporary),
            Err(_) => Ok(()),
        };
        placed.and(removed)
    }

    fn fill(&self, folder: &Path) -> io::Result<()> {
        let folders = self.folders();
        for inside in folders.keys().filter(|inside| !inside.is_empty()) {
            DirBuilder::new().mode(0o755).create(folder.join(inside))?;
        }
        for file in self.files {
            // Read-only, so that nobody edits it by mistake: what is changed here is written anew.
            let mode = if file.executable { 0o555 } else { 0o444 };
            let path = folder.join(&file.path[self.above..]);
            let mut written = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
            written.write_all(file.bytes)?;
            date(&written)?;
        }
        // The folders last: each file that was made in them gave them another date.
        for inside in folders.keys() {
            date(&File::open(at(folder, inside))?)?;
        }
        Ok(())
    }
}

fn date(file: &File) -> io::Result<()> {
    file.set_modified(UNIX_EPOCH + Duration::from_secs(DATE.unsigned_abs()))
}

/// A new folder in the same one, since a rename does not cross file systems.
fn make_beside(folder: &Path) -> io::Result<PathBuf> {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let hidden = [OsStr::new("."), name, OsStr::new(".")].join(OsStr::new(""));
    let made = tempfile::Builder::new()
        .prefix(&hidden)
        .suffix(".tmp")
        .permissions(Permissions::from_mode(0o755))
        .tempdir_in(above)?;
    Ok(made.keep())
}

/// Exchanges the two where there is something already; else it is a plain move that never replaces anything.
fn put_in_place(temporary: &Path, folder: &Path) -> io::Result<()> {
    // The second is for a folder that somebody makes between the first attempt and this one, the third for one that
    // somebody removes.
    let mut last = io::Error::from(io::ErrorKind::Other);
    for flags in [RenameFlags::NOREPLACE, RenameFlags::EXCHANGE, RenameFlags::NOREPLACE] {
        match renameat_with(CWD, temporary, CWD, folder, flags) {
            Ok(()) => return Ok(()),
            // Not every file system can do either.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
                return move_one_by_one(temporary, folder);
            }
            Err(error) => last = error.into(),
        }
    }
    Err(last)
}

/// In two steps, where the file system has no single one: for a moment there is no folder, which whoever looks just then
/// takes for one that was never written, and writes.
fn move_one_by_one(temporary: &Path, folder: &Path) -> io::Result<()> {
    let aside = make_beside(folder)?;
    // An empty folder is replaced by a folder that is moved onto it.
    let moved = fs::rename(folder, &aside);
    let placed = fs::rename(temporary, folder);
    if moved.is_ok() {
        fs::remove_dir_all(&aside)?;
    } else {
        fs::remove_dir(&aside)?;
    }
    match placed {
        // Somebody else was faster; what is there now is looked at by the caller as anything else is.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists) =>
        {
            Ok(())
        }
        placed => placed,
    }
}
