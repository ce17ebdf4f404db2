//! A folder in which every step is taken beneath its handle, never through a link.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, Mode, OFlags, RenameFlags, ResolveFlags, Stat, openat, openat2, renameat_with, statat,
};
use rustix::io::Errno;

use crate::path::LayerPath;

/// A folder, held open. Paths below it are resolved by the kernel without following links, so whatever a script or another
/// program puts there cannot lead elsewhere.
#[derive(Debug)]
pub(crate) struct Tree {
    root: OwnedFd,
    path: PathBuf,
}

impl Tree {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { root: openat(CWD, path, flags, Mode::empty())?, path: path.to_owned() })
    }

    /// Where it is, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens an entry.
    pub(crate) fn open_entry(&self, path: &LayerPath, flags: OFlags) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(openat2(&self.root, path.as_path(), flags, Mode::empty(), resolve)?)
    }

    /// The folder an entry lies in, and its name there.
    pub(crate) fn parent<'a>(&self, path: &'a LayerPath) -> io::Result<(OwnedFd, &'a OsStr)> {
        let name = path.as_path().file_name().unwrap_or_default();
        let folder = match path.parent() {
            Some(parent) => self.open_entry(&parent, OFlags::PATH | OFlags::DIRECTORY)?,
            None => rustix::io::fcntl_dupfd_cloexec(&self.root, 3)?,
        };
        Ok((folder, name))
    }

    /// The status of an entry, a link's own included; `None` where there is nothing.
    pub(crate) fn stat(&self, path: &LayerPath) -> io::Result<Option<Stat>> {
        let absent = |error: &io::Error| {
            matches!(error.raw_os_error().map(Errno::from_raw_os_error), Some(Errno::NOENT | Errno::NOTDIR))
        };
        let (folder, name) = match self.parent(path) {
            Ok(parent) => parent,
            Err(error) if absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The names in a folder, in order; in the top folder for `None`.
    pub(crate) fn names(&self, path: Option<&LayerPath>) -> io::Result<Vec<OsString>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let folder = match path {
            Some(path) => self.open_entry(path, flags)?,
            None => openat(&self.root, ".", flags | OFlags::CLOEXEC, Mode::empty())?,
        };
        let mut names = Vec::new();
        for entry in Dir::new(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Renames an entry of this folder to one of another.
    pub(crate) fn rename_to(
        &self,
        from: &LayerPath,
        target: &Self,
        to: &LayerPath,
        flags: RenameFlags,
    ) -> io::Result<()> {
        let (from_folder, from_name) = self.parent(from)?;
        let (to_folder, to_name) = target.parent(to)?;
        Ok(renameat_with(&from_folder, from_name, &to_folder, to_name, flags)?)
    }
}
