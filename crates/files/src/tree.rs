//! Everything below one folder, in one order, without following a link.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, statat};

use crate::entries::sorted_entries;
use crate::open::{FOLDER, open_unlinked};
use crate::{Extent, ListBounds, OsError, RelativePath};

#[derive(Debug)]
pub(crate) struct Tree {
    /// By path, byte by byte.
    pub(crate) entries: Vec<TreeEntry>,
    /// Truncated when there are more entries than the bound.
    pub(crate) extent: Extent,
}

#[derive(Debug)]
pub(crate) struct TreeEntry {
    pub(crate) path: RelativePath,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    File {
        size: u64,
        executable: bool,
    },
    Link,
    /// A FIFO, a socket, a device.
    Special,
    /// A folder that is deeper than the bound; what it holds is not in the tree.
    TooDeep,
    Unreadable(OsError),
}

/// Walks `top` depth first. Anything called `.git` is left out with all it holds: it is git's, not the skill's.
pub(crate) fn walk(top: BorrowedFd<'_>, bounds: ListBounds) -> Result<Tree, OsError> {
    let mut walk = Walk { top, bounds, tree: Vec::new(), seen: 0, buffer: Vec::new(), extent: Extent::Whole };
    // The descriptor we were given may have been read before, and reading goes on where it stands.
    let fresh = open_unlinked(top, c".", FOLDER)?;
    let mut pending = Vec::new();
    walk.read(fresh.as_fd(), None, &mut pending)?;
    drop(fresh);
    while let Some((path, depth)) = pending.pop() {
        if walk.extent == Extent::Truncated {
            break;
        }
        if depth >= bounds.depth {
            walk.push(path, What::TooDeep);
            continue;
        }
        let mut below = Vec::new();
        if let Err(error) = walk.enter(&path, &mut below) {
            walk.push(path, What::Unreadable(error));
        }
        pending.extend(below.into_iter().map(|(path, _)| (path, depth + 1)));
    }
    walk.tree.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(Tree { entries: walk.tree, extent: walk.extent })
}

struct Walk<'a> {
    top: BorrowedFd<'a>,
    bounds: ListBounds,
    tree: Vec<TreeEntry>,
    /// Folders count too, or a tree of empty folders would have no bound.
    seen: usize,
    buffer: Vec<u8>,
    extent: Extent,
}

type Pending = Vec<(RelativePath, usize)>;

impl Walk<'_> {
    fn enter(&mut self, path: &RelativePath, pending: &mut Pending) -> Result<(), OsError> {
        let name = CString::new(path.as_bytes()).unwrap_or_default();
        let folder = open_unlinked(self.top, &name, FOLDER)?;
        self.read(folder.as_fd(), Some(path), pending)
    }

    fn read(
        &mut self,
        folder: BorrowedFd<'_>,
        path: Option<&RelativePath>,
        pending: &mut Pending,
    ) -> Result<(), OsError> {
        let room = self.bounds.entries.saturating_sub(self.seen);
        let (names, extent) = sorted_entries(folder, &mut self.buffer, room)?;
        self.seen += names.len();
        if extent == Extent::Truncated {
            self.extent = extent;
        }
        for (name, kind) in names {
            let path = RelativePath::below(path, OsStr::from_bytes(name.to_bytes()));
            match kind {
                FileType::Directory => pending.push((path, 1)),
                FileType::Symlink => self.push(path, What::Link),
                FileType::RegularFile => {
                    let what = match statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                            What::File {
                                size: u64::try_from(stat.st_size).unwrap_or_default(),
                                executable: is_executable(stat.st_mode),
                            }
                        }
                        Ok(_) => What::Special,
                        Err(error) => What::Unreadable(error.into()),
                    };
                    self.push(path, what);
                }
                _ => self.push(path, What::Special),
            }
        }
        // The last of the sorted folders would be taken first otherwise.
        pending.reverse();
        Ok(())
    }

    fn push(&mut self, path: RelativePath, what: What) {
        self.tree.push(TreeEntry { path, what });
    }
}

/// Whether anybody may execute it. Which of the three bits are set depends on the umask of whoever unpacked the skill,
/// so one question covers them all.
pub(crate) fn is_executable(mode: rustix::fs::RawMode) -> bool {
    mode & 0o111 != 0
}
