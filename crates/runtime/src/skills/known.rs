//! The skills of a program, as they are known.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use metier_catalog::{News, Snapshot, Watcher, Watching};
use metier_files::WatchError;

/// The skills of a program, and whether their files are looked at again.
#[derive(Debug)]
pub(super) enum KnownSkills {
    /// As the program read them. A program that makes one call has no use for changes, and a second look costs as much as the
    /// first.
    Fixed(Arc<Snapshot>),
    /// Changes of the files are followed.
    Followed(Watcher),
}

impl KnownSkills {
    /// What is known now.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        match self {
            Self::Fixed(snapshot) => Arc::clone(snapshot),
            Self::Followed(watcher) => watcher.snapshot(),
        }
    }

    /// The same after a look at the files, where they are followed.
    pub(super) fn look(&self) -> Arc<Snapshot> {
        match self {
            Self::Fixed(snapshot) => Arc::clone(snapshot),
            Self::Followed(watcher) => watcher.look(),
        }
    }

    pub(super) fn watching(&self) -> Watching {
        match self {
            Self::Fixed(_) => Watching::OnUse { why: WatchError::Limit { count: 0 } },
            Self::Followed(watcher) => watcher.watching(),
        }
    }

    /// Tells of every change from here on. Of fixed skills there is nothing to tell.
    pub(super) fn subscribe(&self) -> Receiver<News> {
        match self {
            Self::Fixed(_) => channel().1,
            Self::Followed(watcher) => watcher.subscribe(),
        }
    }
}
