//! What became other in the folders that a call could write to.

use std::path::PathBuf;

/// What became other, while a call ran, in the folders that it could write to. Who did it is not known: what somebody else
/// changed there at the same time is listed with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Files and folders, by path.
    pub entries: Vec<Change>,
    /// Whether there was too much to look at, so that more may have changed.
    pub is_partial: bool,
}

/// One file or folder that became other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// Where it is.
    pub path: PathBuf,
    /// What became of it.
    pub kind: ChangeKind,
    /// How large it is now, in bytes; of what was removed and of folders, zero.
    pub size: u64,
}

/// What became of a file or folder. A folder is not changed by what changes in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It was not there before.
    New,
    /// It is other than before: its content, its rights, or what it is.
    Changed,
    /// It is not there any more.
    Removed,
}

impl ChangeKind {
    /// The word users see.
    pub const fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}
