//! Opens folders and lists them.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Dir, DirEntry, Mode, OFlags, openat};
use rustix::io::Result;
use rustix::path::Arg;

/// Opens a folder to be listed, and nothing else that lies in its place: no link is followed.
pub(crate) const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens a folder to be listed, not through a link.
pub(crate) fn open_folder(at: impl AsFd, path: impl Arg) -> Result<OwnedFd> {
    openat(at, path, FOLDER, Mode::empty())
}

/// Opens a folder for paths below it, without the right to list it.
pub(crate) fn open_base(path: impl Arg) -> Result<OwnedFd> {
    openat(CWD, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// The entries of a folder without `.` and `..`.
pub(crate) fn entries<F: AsFd>(folder: F) -> Result<impl Iterator<Item = Result<DirEntry>> + use<F>> {
    let is_dots = |entry: &DirEntry| matches!(entry.file_name().to_bytes(), b"." | b"..");
    Ok(Dir::read_from(folder)?.filter(move |entry| !entry.as_ref().is_ok_and(is_dots)))
}
