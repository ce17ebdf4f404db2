//! Single files outside skills: configuration, the trust store, `.disabled.json`, what `metier new` writes.
//!
//! These are the user's own files, so links are followed and paths are not confined. They may still lie in a stranger's
//! repository, so reads are bounded and never wait, and whoever is stopped in the middle of a write leaves the old file.

mod atomic;
mod held;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

pub(crate) use self::atomic::fill;
pub use self::atomic::{write_atomic, write_private};
pub use self::held::HeldFile;
use crate::Error;

/// Who may read a file that is made new. The user's umask takes away from it as usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only the user: trust, keys, sessions.
    Private,
    /// Whoever may read the folder.
    Shared,
    /// As [`Mode::Shared`], and it may be executed.
    Executable,
}

impl Mode {
    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Shared => 0o666,
            Self::Executable => 0o777,
        }
    }

    /// The same for a folder that is made on the way to the file.
    const fn folder_bits(self) -> u32 {
        match self {
            Self::Private => 0o700,
            Self::Shared | Self::Executable => 0o777,
        }
    }
}

/// What is at a path, links followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing, or a link to nothing.
    Missing,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A FIFO, a socket, a device, or something that may not be looked at.
    Other,
}

/// What is at `path`.
pub fn kind(path: &Path) -> Kind {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Kind::File,
        Ok(metadata) if metadata.is_dir() => Kind::Folder,
        Err(error) if is_absent(&error) => Kind::Missing,
        Ok(_) | Err(_) => Kind::Other,
    }
}

/// The path with every link on it followed.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// All of a regular file, or `None` where there is nothing.
///
/// A file of more than `limit` bytes is an error of the kind [`io::ErrorKind::FileTooLarge`]; anything but a regular file
/// is one of the kind [`io::ErrorKind::InvalidInput`]. Both carry an [`Error`] that says it.
pub fn read_bounded(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((file, size)) = open_regular(path)? else { return Ok(None) };
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(limit)).unwrap_or_default());
    // One byte more than allowed is asked for: the size may be out of date, and some systems' files say 0.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    let read = bytes.len() as u64;
    if read > limit {
        let error = Error::TooLarge { path: path.to_owned(), limit, actual: size.max(read) };
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, error));
    }
    Ok(Some(bytes))
}

/// Writes a file that must not be there yet, and the folders above it.
///
/// Whatever is at `path`, even a link to nothing, is left alone and is an error of the kind
/// [`io::ErrorKind::AlreadyExists`].
pub fn write_new(path: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    create_parent(path, mode)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode.bits()).open(path)?;
    file.write_all(bytes).inspect_err(|_| {
        // Half a file would stop the next attempt. That it cannot be removed either is no better news than the first.
        let _ = fs::remove_file(path);
    })
}

/// Makes a folder that must not be there yet, and the folders above it.
pub fn create_new_dir(path: &Path) -> io::Result<()> {
    create_parent(path, Mode::Shared)?;
    fs::DirBuilder::new().mode(0o777).create(path)
}

/// Removes a folder if nothing is in it.
pub fn remove_empty_dir(path: &Path) {
    // The call refuses where something is in it, and a folder that stays does no harm.
    let _ = fs::remove_dir(path);
}

/// Makes the folders above a file. What only the user may read lies in folders that only the user may enter, whatever the umask is:
/// with a umask of 0 anybody could put a file of their own in its place.
fn create_parent(path: &Path, mode: Mode) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => {
            fs::DirBuilder::new().recursive(true).mode(mode.folder_bits()).create(parent)
        }
        _ => Ok(()),
    }
}

/// Opens a regular file for reading without waiting for anybody, as a FIFO would, and gives its size as well; `None` where
/// nothing is.
fn open_regular(path: &Path) -> io::Result<Option<(File, u64)>> {
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or_default();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            return Err(not_a_file(path));
        }
        Err(error) => return Err(error),
    };
    // Asked of the opened file: the path could be another one by now.
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok(Some((file, metadata.len()))) } else { Err(not_a_file(path)) }
}

/// A file in place of a folder on the way is the same as nothing: there cannot be anything at the path.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn not_a_file(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, Error::NotAFile { path: path.to_owned() })
}
