//! What tells one state of a file from another.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

use crate::change::EntryKind;

/// Which file something is, and which state of it. The change time is not part of it: a rename changes it. Neither is the
/// device: btrfs and other file systems get another number with every mount, and a journal has to be understood afterwards.
/// Everything that is compared lies on one file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub(crate) inode: u64,
    pub(crate) kind: Option<EntryKind>,
    /// Permission bits.
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) modified: Time,
}

/// A time of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Time {
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: i64,
}

impl Time {
    /// The time by the system's clock, which file systems follow in ticks.
    pub(crate) fn now() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            seconds: i64::try_from(now.as_secs()).unwrap_or(i64::MAX),
            nanoseconds: now.subsec_nanos().into(),
        }
    }
}

impl Stamp {
    pub(crate) fn is_folder(&self) -> bool {
        self.kind == Some(EntryKind::Folder)
    }

    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            kind: kind(stat),
            mode: stat.st_mode & 0o7777,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: Time { seconds: stat.st_mtime, nanoseconds: nanoseconds(stat.st_mtime_nsec) },
        }
    }

    /// Whether both are the same file, whatever was written to it.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        self.inode == other.inode
    }

    /// Whether nothing was done to the file in between. Of a folder only its identity counts: its size and time change with
    /// every entry.
    pub(crate) fn is_unchanged(&self, other: &Self) -> bool {
        self.is_same_file(other)
            && (self.kind == Some(EntryKind::Folder)
                || (self.size, self.modified, self.mode) == (other.size, other.modified, other.mode))
    }
}

/// What kind of entry a status is about; `None` for devices, pipes and sockets.
pub(crate) fn kind(stat: &Stat) -> Option<EntryKind> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Some(EntryKind::File),
        FileType::Directory => Some(EntryKind::Folder),
        FileType::Symlink => Some(EntryKind::Link),
        _ => None,
    }
}

/// Whether a status is about a folder.
pub(crate) fn is_folder(stat: &Stat) -> bool {
    kind(stat) == Some(EntryKind::Folder)
}

/// The time of the last change of a file, its names and rights included.
pub(crate) fn changed(stat: &Stat) -> Time {
    Time { seconds: stat.st_ctime, nanoseconds: nanoseconds(stat.st_ctime_nsec) }
}

fn nanoseconds(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(0)
}
