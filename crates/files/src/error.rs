use std::io;
use std::path::{Path, PathBuf};

/// Why something in a skill's folder could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path, or a link on its way, leads out of the folder. Nothing was read.
    #[error("`{}` leads outside the folder", path.display())]
    Outside {
        /// What was asked for.
        path: PathBuf,
    },
    /// There is no such file.
    #[error("`{}` does not exist", path.display())]
    NotFound {
        /// What was asked for.
        path: PathBuf,
    },
    /// A folder stands where a file was expected.
    #[error("`{}` is a folder", path.display())]
    IsAFolder {
        /// What was asked for.
        path: PathBuf,
    },
    /// It is a FIFO, a socket or a device. Nothing was read, and nothing waited.
    #[error("`{}` is not a regular file", path.display())]
    NotAFile {
        /// What was asked for.
        path: PathBuf,
    },
    /// A file stands where a folder was expected.
    #[error("`{}` is not a folder", path.display())]
    NotAFolder {
        /// What was asked for.
        path: PathBuf,
    },
    /// The file is larger than the caller takes.
    #[error("`{}` has {actual} bytes, more than the limit of {limit}", path.display())]
    TooLarge {
        /// What was asked for.
        path: PathBuf,
        /// The most the caller takes.
        limit: u64,
        /// What the file has.
        actual: u64,
    },
    /// The folder holds more files and folders than a digest covers.
    #[error("the skill has more than the limit of {limit} files and folders")]
    TooManyFiles {
        /// How many there may be.
        limit: usize,
    },
    /// The folder holds more bytes than a digest covers.
    #[error("with `{}` the skill has more than the limit of {limit} bytes", path.display())]
    TooManyBytes {
        /// The file with which the limit was passed.
        path: PathBuf,
        /// How many there may be.
        limit: u64,
    },
    /// Folders are nested deeper than a digest covers.
    #[error("`{}` is nested deeper than {limit} folders", path.display())]
    TooDeep {
        /// The first folder that is too deep.
        path: PathBuf,
        /// How deep it may be.
        limit: usize,
    },
    /// A link leads to something no digest covers, so that its content could change unseen.
    #[error("the link `{}` leads to `{}`, which the digest does not cover", path.display(), target.display())]
    NotCovered {
        /// The link.
        path: PathBuf,
        /// Where it leads, relative to the folder.
        target: PathBuf,
    },
    /// The file changed while it was read, so the digest would be of no state it ever had.
    #[error("`{}` changed while it was read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("`{}` cannot be read: {source}", path.display())]
    Io {
        /// What was asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Sorts an error of cap-std or of the system into ours.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        // cap-std answers an attempt to leave the folder with an error of its own making, which is told from the
        // system's "permission denied" by having no number.
        if source.kind() == io::ErrorKind::PermissionDenied && source.raw_os_error().is_none() {
            return Self::Outside { path };
        }
        match source.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
            Some(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Self::NotFound { path },
            // Opening a socket says "no such device or address".
            Some(rustix::io::Errno::NXIO | rustix::io::Errno::NODEV) => Self::NotAFile { path },
            Some(rustix::io::Errno::ISDIR) => Self::IsAFolder { path },
            _ => Self::Io { path, source },
        }
    }
}
