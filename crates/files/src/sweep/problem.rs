use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use crate::OsError;

/// Something that kept a sweep from finding what may be there. Everything else is found all the same.
///
/// Paths are those of the root as it was given, joined with the way below it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A folder that cannot be read.
    #[error("the folder `{}` cannot be read: {error}", path.display())]
    Unreadable {
        /// Which of the roots it is in.
        root: usize,
        /// The folder.
        path: PathBuf,
        /// What the system said.
        error: OsError,
    },
    /// A document that cannot be read.
    #[error("the file `{}` cannot be read: {error}", path.display())]
    UnreadableFile {
        /// Which of the roots it is in.
        root: usize,
        /// The document.
        path: PathBuf,
        /// What the system said.
        error: OsError,
    },
    /// A folder, a FIFO, a socket or a device with a document's name. Its folder is not searched any further.
    #[error("`{}` is not a regular file", path.display())]
    NotAFile {
        /// Which of the roots it is in.
        root: usize,
        /// What has the document's name.
        path: PathBuf,
    },
    /// A link to somewhere the root's links may not lead.
    #[error("the link `{}` leads outside, to `{}`", path.display(), target.display())]
    LinkOutside {
        /// Which of the roots it is in.
        root: usize,
        /// The link.
        path: PathBuf,
        /// Where it leads, as a real path.
        target: PathBuf,
    },
    /// A link to nothing, or to itself.
    #[error("the link `{}` leads nowhere", path.display())]
    LinkBroken {
        /// Which of the roots it is in.
        root: usize,
        /// The link.
        path: PathBuf,
    },
    /// A link to a folder it lies in.
    #[error("the link `{}` leads back to `{}`, which it lies in", path.display(), target.display())]
    LinkLoop {
        /// Which of the roots it is in.
        root: usize,
        /// The link.
        path: PathBuf,
        /// Where it leads, as a real path.
        target: PathBuf,
    },
    /// Folders that are deeper than the root's bound. There is one for each root, with the first of them.
    #[error("the folders in `{}` are deeper than {limit} and were not searched", path.display())]
    DepthBound {
        /// Which of the roots it is in.
        root: usize,
        /// The first folder whose folders were not searched.
        path: PathBuf,
        /// The root's depth.
        limit: u16,
    },
    /// More entries than the sweep's bound. There is one at most, and it comes last.
    #[error("there are more than {limit} files and folders, and the rest was not searched")]
    EntryBound {
        /// The sweep's bound.
        limit: usize,
    },
}

impl Problem {
    /// Which of the roots it is in, if it is in one.
    pub fn root(&self) -> Option<usize> {
        self.place().map(|(root, _)| root)
    }

    /// Where it is, if it is in one place.
    pub fn path(&self) -> Option<&Path> {
        self.place().map(|(_, path)| path)
    }

    fn place(&self) -> Option<(usize, &Path)> {
        match self {
            Self::Unreadable { root, path, .. }
            | Self::UnreadableFile { root, path, .. }
            | Self::NotAFile { root, path }
            | Self::LinkOutside { root, path, .. }
            | Self::LinkBroken { root, path }
            | Self::LinkLoop { root, path, .. }
            | Self::DepthBound { root, path, .. } => Some((*root, path)),
            Self::EntryBound { .. } => None,
        }
    }

    /// By root and path, and at one place by what is said; a bound of the whole sweep comes last.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let (own, others) = (self.place(), other.place());
        let order = own.is_none().cmp(&others.is_none()).then_with(|| own.cmp(&others));
        order.then_with(|| self.to_string().cmp(&other.to_string()))
    }
}
