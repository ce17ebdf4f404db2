//! Moves a folder of an overlay child by child, where the kernel does not rename it.
//!
//! The kernel has checked before that the script may rename the folder. What fails here on the way is taken back.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, Gid, Mode, Stat, Timespec, Timestamps, Uid, fchmod, fchown, fstat, futimens, mkdirat, statat,
    unlinkat,
};
use rustix::io::Errno;

use crate::folder::{entries, open_folder};
use crate::kernel::{Replace, rename_unnotified};

/// How deep folders may lie in each other. Each level holds two descriptors, of 1024 that a process may have.
const MAX_DEPTH: usize = 256;

/// How often a folder is looked through, while other processes put things into it.
const MAX_ROUNDS: usize = 16;

/// What the owner of a folder needs to move things in and out.
const OWNER: u32 = 0o700;

const SET_ID: u32 = libc::S_ISUID | libc::S_ISGID;

/// A name in a folder.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) folder: OwnedFd,
    pub(crate) name: CString,
}

type At<'a> = (BorrowedFd<'a>, &'a CStr);

/// Moves a folder. `between` is called after every step. Only for a process that does nothing else: its umask changes.
pub(crate) fn move_folder(
    from: &Entry,
    to: &Entry,
    replace: Replace,
    between: &mut dyn FnMut(),
) -> Result<(), Errno> {
    // Folders get the modes of those whose place they take.
    rustix::process::umask(Mode::empty());
    let to = (to.folder.as_fd(), to.name.as_c_str());
    let replaced = match replace {
        Replace::Yes => remove_empty(to)?,
        Replace::No => None,
    };
    let moved = by_parts((from.folder.as_fd(), &from.name), to, Depth { left: MAX_DEPTH, between });
    if let (Err(_), Some(folder)) = (&moved, &replaced)
        && mkdirat(to.0, to.1, permissions(folder.st_mode)).is_ok()
        && let Ok(again) = open_folder(to.0, to.1)
    {
        let _ = futimens(&again, &times(folder));
    }
    moved
}

/// Removes the folder that another takes the place of. The kernel says where it is not one, or not empty.
fn remove_empty((folder, name): At<'_>) -> Result<Option<Stat>, Errno> {
    let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error),
    };
    unlinkat(folder, name, AtFlags::REMOVEDIR)?;
    Ok(Some(stat))
}

/// How much deeper a move may go, and what it does after every step.
struct Depth<'a> {
    left: usize,
    between: &'a mut dyn FnMut(),
}

impl Depth<'_> {
    fn below(&mut self) -> Depth<'_> {
        Depth { left: self.left.saturating_sub(1), between: self.between }
    }
}

fn by_parts(from: At<'_>, to: At<'_>, mut depth: Depth<'_>) -> Result<(), Errno> {
    if depth.left == 0 {
        return Err(Errno::XDEV);
    }
    let source = open_folder(from.0, from.1)?;
    let stat = fstat(&source)?;
    mkdirat(to.0, to.1, permissions(stat.st_mode | OWNER))?;
    let mut moved = Vec::new();
    let done = open_folder(to.0, to.1).and_then(|target| {
        let done = fill(from, &source, &stat, &target, &mut depth, &mut moved);
        if done.is_err() {
            for name in moved.iter().rev() {
                let _ = move_child((target.as_fd(), name), (source.as_fd(), name), depth.below());
            }
        }
        done
    });
    if done.is_err() {
        let _ = unlinkat(to.0, to.1, AtFlags::REMOVEDIR);
        if stat.st_mode & OWNER != OWNER && stat.st_mode & SET_ID == 0 {
            let _ = fchmod(&source, permissions(stat.st_mode));
        }
        let _ = futimens(&source, &times(&stat));
    }
    done
}

/// Moves everything from one folder to the other, which becomes like it, and removes it.
fn fill(
    from: At<'_>,
    source: &OwnedFd,
    stat: &Stat,
    target: &OwnedFd,
    depth: &mut Depth<'_>,
    moved: &mut Vec<CString>,
) -> Result<(), Errno> {
    let made = fstat(target)?;
    if (made.st_uid, made.st_gid) != (stat.st_uid, stat.st_gid) {
        // Only root may give a folder to another owner. A rename keeps the owner, so without it there is none.
        fchown(target, Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)))
            .map_err(|_| Errno::XDEV)?;
    }
    let is_other = permissions(made.st_mode) != permissions(stat.st_mode);
    if stat.st_mode & SET_ID != 0 && is_other {
        // The filter refuses to set these bits; a new folder only has them from the one it lies in.
        return Err(Errno::XDEV);
    }
    if stat.st_mode & OWNER != OWNER {
        fchmod(source, permissions(stat.st_mode | OWNER))?;
    }
    for _ in 0..MAX_ROUNDS {
        for name in names(source)? {
            move_child((source.as_fd(), &name), (target.as_fd(), &name), depth.below())?;
            moved.push(name);
            (depth.between)();
        }
        futimens(target, &times(stat))?;
        match unlinkat(from.0, from.1, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY) => {}
            Err(error) => return Err(error),
            // Last, since nothing can be put into a folder that its owner may not write to.
            Ok(()) if is_other => return fchmod(target, permissions(stat.st_mode)),
            Ok(()) => return Ok(()),
        }
    }
    Err(Errno::BUSY)
}

fn move_child(from: At<'_>, to: At<'_>, depth: Depth<'_>) -> Result<(), Errno> {
    match rename_unnotified(from, to, Replace::No) {
        // It was removed since the folder was listed.
        Err(Errno::NOENT) => Ok(()),
        // `EACCES` where the owner may not write to the folder: its entry `..` changes. The kernel does not ask that of a
        // folder inside the one that is renamed.
        Err(error @ (Errno::XDEV | Errno::ACCESS)) => match by_parts(from, to, depth) {
            Err(Errno::NOTDIR | Errno::LOOP) => Err(error),
            done => done,
        },
        done => done,
    }
}

fn names(folder: &OwnedFd) -> Result<Vec<CString>, Errno> {
    entries(folder)?.map(|entry| Ok(entry?.file_name().to_owned())).collect()
}

fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode(mode & 0o7777)
}

/// The times of a file, to be given to another.
pub(super) fn times(stat: &Stat) -> Timestamps {
    let time = |seconds, nanoseconds| Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    Timestamps {
        last_access: time(stat.st_atime, i64::try_from(stat.st_atime_nsec).unwrap_or(0)),
        last_modification: time(stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
    }
}
