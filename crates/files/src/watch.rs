//! Being told by the system that something in a folder has changed.
//!
//! This is inotify, used directly: one watch per folder with exactly the events that matter, no path kept for
//! any of them (the caller knows its folders by [`WatchToken`]), and no thread, since the caller has one that waits.
//! Libraries for watching keep a path for each folder, start threads of their own and follow whole trees; ten thousand
//! folders of which one file each matters are not what they are for. Where watching fails, callers look for themselves.

mod inotify;

use std::ffi::OsStr;

use crate::OsError;
pub use inotify::{Waker, Watch};

/// A folder that is watched. Two paths to one real folder have one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchToken(i32);

/// What is worth knowing about a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Everything that can make a file in it read differently: written and closed, made, removed, renamed, permissions.
    /// A file that is still being written is not told of, so that nobody reads half of it.
    Entries,
    /// That the folder itself was moved or removed. Costs nothing while it stays, however busy the folder is.
    Itself,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEvent<'a> {
    /// Something about the entry `name` of a folder.
    Entry {
        /// The folder.
        token: WatchToken,
        /// The entry.
        name: &'a OsStr,
        /// Whether the entry is a folder.
        is_folder: bool,
    },
    /// The folder itself was moved, removed, unmounted or otherwise touched. It may not be watched any more.
    Folder {
        /// The folder.
        token: WatchToken,
        /// Whether it is no longer where it was.
        is_gone: bool,
    },
    /// More happened than the system could remember; everything has to be looked at again.
    Overflow,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Events were handed over.
    Events,
    /// The time is up.
    Timeout,
    /// [`Waker::wake`] was called.
    Woken,
}

/// Why a folder, or anything at all, is not watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// There is no such folder. It may come later.
    #[error("the folder does not exist")]
    Missing,
    /// The system's limit, or the caller's own, is reached.
    #[error(
        "the limit of folders that may be watched is reached ({count} are watched here; see `fs.inotify.max_user_watches`)"
    )]
    Limit {
        /// How many folders are watched.
        count: usize,
    },
    /// Too many programs of this user watch something.
    #[error("the limit of programs that may watch is reached (see `fs.inotify.max_user_instances`)")]
    Instances,
    /// metier does not know how to watch on this system.
    #[error("metier does not watch folders on this system")]
    Unsupported,
    /// Something else.
    #[error("the system does not watch: {0}")]
    System(#[from] OsError),
}
