//! What can go wrong with a layer.

use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::path::LayerPath;

/// A layer that cannot be made, read or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayerError {
    /// An operation on a file failed.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was being done, such as `read`.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A record of the layer is damaged.
    #[error("{} is not a valid record: {source}", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// No folder can hold the layer of an overlay.
    #[error(
        "no folder can hold changes of {}: the data folder has to be outside of it, on a file system with extended \
         attributes that is not an overlay (and as root this takes CAP_SYS_ADMIN)", project.display()
    )]
    NoPlace {
        /// The project.
        project: PathBuf,
    },
    /// The project cannot be written by anybody.
    #[error("{} is on a read-only file system", project.display())]
    ReadOnly {
        /// The project.
        project: PathBuf,
    },
    /// The project and the layer are in different mounts, and what was begun with renames can only go on with them.
    #[error(
        "{} and {} are in different mounts now, so nothing can be moved between them; do it where both are in one mount",
        project.display(), layer.display()
    )]
    OtherMount {
        /// The project.
        project: PathBuf,
        /// The folder of the layer.
        layer: PathBuf,
    },
    /// A path that metier uses itself.
    #[error("cannot write {path}: metier keeps its own records under such a name")]
    OwnName {
        /// Which.
        path: LayerPath,
    },
    /// There is no such layer.
    #[error("no changes with the id `{id}`; `metier changes` lists them")]
    Unknown {
        /// What was asked for.
        id: String,
    },
    /// Its changes are in the project, so there is nothing to discard.
    #[error("the changes `{id}` are applied; `metier changes undo {id}` takes them back")]
    Applied {
        /// Which.
        id: String,
    },
    /// Another process works with the layer.
    #[error("another process works with the changes `{id}`; try again when it has ended")]
    Busy {
        /// Which.
        id: String,
    },
}

impl LayerError {
    pub(crate) fn io<E: Into<io::Error>>(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(E) -> Self {
        let path = path.into();
        move |error| Self::Io { doing, path, source: error.into() }
    }
}

/// Why a selection did not reach the project. The project is as it was, except where `Stuck` says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The project changed since the call began.
    #[error("the project changed meanwhile: {}", list(.0))]
    Conflicts(Vec<Conflict>),
    /// A file could not be put in place; everything was taken back.
    #[error("cannot change {path}: {source}")]
    Io {
        /// Which.
        path: LayerPath,
        /// Why.
        source: io::Error,
    },
    /// Something could not be taken back: the layer is kept, and the next attempt starts from it.
    #[error("cannot take back the change of {path}: {source}; its state is kept in {}", kept.display())]
    Stuck {
        /// Which.
        path: LayerPath,
        /// Why.
        source: io::Error,
        /// Where the old and the new state are.
        kept: PathBuf,
    },
    /// The layer itself.
    #[error(transparent)]
    Layer(#[from] LayerError),
}

/// A path that is not as it was when the call began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Which.
    pub path: LayerPath,
    /// In which way.
    pub reason: ConflictReason,
}

impl fmt::Display for Conflict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.path, self.reason)
    }
}

/// In which way a path is not as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "lowercase")]
pub enum ConflictReason {
    /// Another program wrote it.
    #[error("was changed by another program")]
    Changed,
    /// Another program created it.
    #[error("was created by another program")]
    Appeared,
    /// Another program deleted or moved it, or a folder above it.
    #[error("was deleted or moved by another program")]
    Gone,
    /// The call gave it the name that it has from a file that is not there any more.
    #[error("was renamed from a file that another program deleted or moved")]
    SourceGone,
    /// A folder above it is a link now, which is never followed.
    #[error("lies behind a link now")]
    Link,
}

fn list(conflicts: &[Conflict]) -> String {
    conflicts.iter().map(Conflict::to_string).collect::<Vec<_>>().join(", ")
}
