//! Opening what only the user may read. Who may read a file is asked of the opened file, never of its path: between two
//! looks at a path it can be another one.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::io::{Errno, retry_on_intr};
use zeroize::Zeroizing;

use super::VaultError;

/// Never through a link, never waiting for a FIFO's writer.
const FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NOCTTY);

/// How often somebody else's lock is tried, and how long between: five seconds, where a write takes milliseconds.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// What should be at a path.
struct Wanted {
    word: &'static str,
    kind: FileType,
    mode: u32,
}

const FOLDER: Wanted = Wanted { word: "folder", kind: FileType::Directory, mode: 0o700 };
const FILE: Wanted = Wanted { word: "file", kind: FileType::RegularFile, mode: 0o600 };

/// A folder that belongs to the user and is closed to everybody else.
pub(super) struct PrivateFolder {
    path: PathBuf,
    handle: OwnedFd,
}

impl PrivateFolder {
    /// The folder, or `None` where nothing is.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, VaultError> {
        let Some(handle) = open(CWD, path, path, &FOLDER)? else { return Ok(None) };
        Ok(Some(Self { path: path.to_owned(), handle }))
    }

    /// The same, made where nothing is.
    pub(super) fn make(path: &Path) -> Result<Self, VaultError> {
        if let Some(folder) = Self::open(path)? {
            return Ok(folder);
        }
        metier_files::private_folder(path).map_err(|source| VaultError::Io {
            path: path.to_owned(),
            attempt: "made",
            source,
        })?;
        Self::open(path)?.ok_or_else(|| failed(path, "read", Errno::NOENT))
    }

    /// All of a file, or `None` where nothing is.
    pub(super) fn read(&self, name: &str, limit: u64) -> Result<Option<Zeroizing<Vec<u8>>>, VaultError> {
        let path = self.path.join(name);
        let Some(handle) = open(&self.handle, Path::new(name), &path, &FILE)? else { return Ok(None) };
        let file = File::from(handle);
        let size = file.metadata().map_err(|source| io_failed(&path, source))?.len();
        // Room for all of it at once: a buffer that grows leaves copies behind that nobody overwrites.
        let room = usize::try_from(size.min(limit)).unwrap_or_default() + 2;
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|source| io_failed(&path, source))?;
        if bytes.len() as u64 > limit {
            return Err(VaultError::Full { path, limit });
        }
        Ok(Some(bytes))
    }

    /// Waits until nobody else writes. Whoever holds the answer may; it ends with it, also when the process dies.
    pub(super) fn lock(&self, name: &str) -> Result<File, VaultError> {
        let path = self.path.join(name);
        let flags = FLAGS.union(OFlags::CREATE);
        let handle = retry_on_intr(|| openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR))
            .map_err(|error| failed(&path, "made", error))?;
        let file = File::from(handle);
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(std::fs::TryLockError::WouldBlock) => thread::sleep(PAUSE),
                Err(std::fs::TryLockError::Error(source)) => {
                    return Err(VaultError::Io { path, attempt: "locked", source });
                }
            }
        }
        Err(VaultError::Busy { path: self.path.clone() })
    }
}

fn open(from: impl AsFd, name: &Path, path: &Path, wanted: &Wanted) -> Result<Option<OwnedFd>, VaultError> {
    let handle = match retry_on_intr(|| openat(&from, name, FLAGS, Mode::empty())) {
        Ok(handle) => handle,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::LOOP) => return Err(VaultError::Link { path: path.to_owned(), what: wanted.word }),
        // A socket cannot be opened at all.
        Err(Errno::NXIO) => return Err(VaultError::NotA { path: path.to_owned(), what: wanted.word }),
        Err(error) => return Err(failed(path, "read", error)),
    };
    let stat = fstat(&handle).map_err(|error| failed(path, "read", error))?;
    if FileType::from_raw_mode(stat.st_mode) != wanted.kind {
        return Err(VaultError::NotA { path: path.to_owned(), what: wanted.word });
    }
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(VaultError::AnotherOwner { path: path.to_owned() });
    }
    let mode = Mode::from_raw_mode(stat.st_mode);
    if mode.intersects(Mode::RWXG | Mode::RWXO) {
        #[allow(clippy::useless_conversion, reason = "not on every system")]
        let mode = u32::from(mode.as_raw_mode()) & 0o7777;
        return Err(VaultError::OpenToOthers { path: path.to_owned(), mode, remedy: wanted.mode });
    }
    Ok(Some(handle))
}

fn failed(path: &Path, attempt: &'static str, error: Errno) -> VaultError {
    VaultError::Io { path: path.to_owned(), attempt, source: error.into() }
}

fn io_failed(path: &Path, source: io::Error) -> VaultError {
    VaultError::Io { path: path.to_owned(), attempt: "read", source }
}
