//! What is other than it has to be.

use std::io;
use std::path::PathBuf;

/// The first thing that is other than it has to be, and how.
#[derive(Debug, thiserror::Error)]
#[error("`{}` {how}", .path.display())]
pub struct Difference {
    /// Where.
    pub path: PathBuf,
    /// How it differs.
    pub how: How,
}

/// How something differs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum How {
    /// It is not there.
    #[error("is missing")]
    Missing,
    /// It is there and should not be.
    #[error("does not belong there")]
    Added,
    /// It holds something else.
    #[error("has other bytes than it came with")]
    Content,
    /// It may be executed and should not, or the other way round.
    #[error("is other than it came with in whether it may be executed")]
    Mode,
    /// It is a link, a folder or a file in the place of something else.
    #[error("is of another kind than it came as")]
    Kind,
    /// It cannot be looked at.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
}

impl Difference {
    pub(super) fn new(path: PathBuf, how: How) -> Self {
        Self { path, how }
    }

    /// Whether the whole folder is not there, as on a machine where it was never written.
    pub fn is_absence_of(&self, folder: &std::path::Path) -> bool {
        matches!(self.how, How::Missing) && self.path == folder
    }
}
