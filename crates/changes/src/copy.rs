//! Copies entries between file systems, beneath handles.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;

use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_OMIT, Uid, chmodat, chownat, ftruncate,
    mkdirat, openat, symlinkat, utimensat,
};

use crate::beneath::Tree;
use crate::change::EntryKind;
use crate::content::next_data;
use crate::path::LayerPath;
use crate::stamp::{Stamp, kind};

/// Whether a folder is copied with what is in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    Entry,
    Everything,
}

/// Copies a file, a link as a link, or a folder, with permissions and time. Holes of files stay holes. Devices, pipes and
/// sockets are passed over.
pub(crate) fn copy_entry(from: &Tree, to: &Tree, path: &LayerPath, depth: Depth) -> io::Result<()> {
    let Some(stat) = from.stat(path)? else { return Err(io::ErrorKind::NotFound.into()) };
    let Some(entry) = kind(&stat) else { return Ok(()) };
    let (folder, name) = to.parent(path)?;
    match entry {
        EntryKind::Link => symlinkat(from.read_link(path)?.as_c_str(), &folder, name)?,
        EntryKind::File => {
            let source = File::from(from.open_entry(path, OFlags::RDONLY | OFlags::NONBLOCK)?);
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let target = openat(&folder, name, flags, Mode::RUSR | Mode::WUSR)?;
            copy_data(source, target, stat.st_size)?;
        }
        EntryKind::Folder => {
            mkdirat(&folder, name, Mode::RWXU)?;
            if depth == Depth::Everything {
                for inner in from.names(Some(path))? {
                    copy_entry(from, to, &path.child(&inner), depth)?;
                }
            }
        }
    }
    set_attributes(&folder, name, entry, &stat, depth)
}

/// Makes the folders above an entry that are missing.
pub(crate) fn make_parents(tree: &Tree, path: &LayerPath) -> io::Result<()> {
    let Some(parent) = path.parent() else { return Ok(()) };
    if tree.stat(&parent)?.is_some() {
        return Ok(());
    }
    make_parents(tree, &parent)?;
    tree.make_folder(&parent)
}

fn set_attributes(
    folder: &OwnedFd,
    name: &std::ffi::OsStr,
    entry: EntryKind,
    stat: &Stat,
    depth: Depth,
) -> io::Result<()> {
    // Root copies files of the project's owner; an ordinary user copies only their own. Giving away takes some
    // permissions, so it comes first. In a container there may be no such user.
    if rustix::process::geteuid().is_root() {
        let (user, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
        let _ = chownat(folder, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW);
    }
    let is_open_folder = entry == EntryKind::Folder && depth == Depth::Entry;
    // A folder that is filled later gets its permissions later.
    if entry != EntryKind::Link && !is_open_folder {
        chmodat(folder, name, Mode::from_raw_mode(stat.st_mode & 0o777), AtFlags::empty())?;
    }
    let modified = Stamp::of(stat).modified;
    let times = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: modified.seconds, tv_nsec: modified.nanoseconds },
    };
    Ok(utimensat(folder, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Copies a file's data and leaves its holes out.
fn copy_data(source: File, target: OwnedFd, size: i64) -> io::Result<()> {
    let size = u64::try_from(size).unwrap_or(0);
    let mut target = File::from(target);
    ftruncate(&target, size)?;
    let mut source = source;
    let mut at = 0;
    while at < size {
        let data = next_data(&source, at, size)?;
        source.seek(SeekFrom::Start(data.start))?;
        target.seek(SeekFrom::Start(data.start))?;
        io::copy(&mut (&source).take(data.end - data.start), &mut target)?;
        at = data.end;
    }
    Ok(())
}
