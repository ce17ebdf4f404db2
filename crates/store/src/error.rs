use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::{SessionId, session_id::ParseIdError};

/// Why the store could not do what was asked.
///
/// It can be copied, since one failed commit is the answer to everybody whose event was in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file is something else. It was left alone.
    #[error("`{}` is not a store of metier; move it away, or name another place", .0.display())]
    NotAStore(PathBuf),
    /// The file was written by a newer metier. It was left alone.
    #[error(
        "`{}` has version {found}, and this metier knows versions up to {known}; use the newer metier that wrote it",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version it has.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
    },
    /// The file has pages that cannot be right.
    #[error(
        "`{}` is damaged ({detail}); move it away together with its `-wal` file, and a new one is begun",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What `SQLite` said.
        detail: String,
    },
    /// The file or its folder cannot be written.
    #[error("`{}` cannot be written ({detail}); make it and its folder writable, or name another place", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// There is no room. Nothing of the batch was written.
    #[error(
        "`{}` cannot grow: the disk is full, or the store has reached its limit; make room, or delete what is old with `metier forget`",
        .0.display()
    )]
    Full(PathBuf),
    /// Another process has written for too long.
    #[error("`{}` is in use by another process for longer than it should be; try again when that one is done", .0.display())]
    Busy(PathBuf),
    /// The system failed at reading or writing.
    #[error("`{}` cannot be used: {detail}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was said.
        detail: String,
    },
    /// The system gave no random bytes, so there can be no id.
    #[error("the system gives no random bytes ({detail}), so no session can be begun")]
    Random {
        /// What the system said.
        detail: String,
    },
    /// Nobody has begun this session, or it was forgotten.
    #[error("there is no session `{0}`")]
    NoSession(SessionId),
    /// A session of this id was begun before.
    #[error("there is a session `{0}` already")]
    SessionExists(SessionId),
    /// Somebody works on the session right now.
    #[error("session {} is being worked on; wait until that is done, or stop it", .0.short())]
    AtWork(SessionId),
    /// No session has an id of which this is a part.
    #[error("no session is called `{0}`; `metier runs` lists them")]
    NotFound(String),
    /// Several sessions could be meant.
    #[error("`{text}` could be {}; write more of it", list(found))]
    Ambiguous {
        /// What was asked for.
        text: String,
        /// Who could be meant, newest first, a few of them.
        found: Vec<SessionId>,
    },
    /// This is no id.
    #[error(transparent)]
    Id(#[from] ParseIdError),
    /// More than is kept in one piece.
    #[error("{what} has {actual} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Which piece.
        what: &'static str,
        /// How many bytes there may be.
        limit: usize,
        /// How many there are.
        actual: usize,
    },
    /// Values inside values, more than a reader would follow.
    #[error("the event has values nested deeper than {0}; keep such a value as text")]
    TooDeep(usize),
    /// A line of a file that is read in is not what it should be. Nothing of the file was taken.
    #[error("line {line}: {reason}; nothing was imported")]
    Import {
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// What is exported could not be written where it should go.
    #[error("the export cannot be written: {0}")]
    Export(String),
    /// A value could not be written as JSON.
    #[error("the event cannot be written as JSON: {0}")]
    Json(String),
    /// The store is being closed.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Sorts an error of `SQLite` into ours.
    pub(crate) fn from_sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let detail = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotAStore(path),
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, detail },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::ReadOnly { path, detail }
            }
            Some(ErrorCode::DiskFull) => Self::Full(path),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(path),
            _ => Self::Io { path, detail },
        }
    }
}

fn list(ids: &[SessionId]) -> String {
    ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}
