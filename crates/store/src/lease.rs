//! Who works on a session now: one conversation of one process.
//!
//! A lease is a locked file beside the store, not a row in it: the system lets go of the lock when its process ends, however that
//! ends, so nothing has to be guessed about processes that are gone, and a number that another process has got since means nothing.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::{SessionId, StoreError};

/// What is put behind the name of the store's file for the folder with the locks.
const BEHIND: &str = "-working";

/// How often a lock is tried for. Whoever only looks holds it for microseconds, and must not be taken for one who works.
const TRIES: u32 = 5;

/// How long between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// The right to go on with a session. Nobody else has it until it is dropped or its process is gone.
#[derive(Debug)]
pub struct Lease(Hold);

#[derive(Debug)]
enum Hold {
    /// Of a store in a file: a locked file.
    File { _lock: OwnedFd, path: PathBuf },
    /// Of a store in memory, which no other process sees.
    Memory(Arc<Working>, SessionId),
}

/// Where leases of a store are kept.
#[derive(Debug)]
pub(crate) enum Leases {
    Folder(PathBuf),
    Memory(Arc<Working>),
}

/// The sessions of a store in memory that are worked on.
#[derive(Debug, Default)]
pub(crate) struct Working(Mutex<HashSet<SessionId>>);

impl Working {
    fn lock(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Leases {
    /// Those of the store in this file.
    pub(crate) fn beside(file: &Path) -> Self {
        let mut name = file.as_os_str().to_owned();
        name.push(BEHIND);
        Self::Folder(name.into())
    }

    pub(crate) fn in_memory() -> Self {
        Self::Memory(Arc::default())
    }

    /// Takes the lease of a session, or says that it is worked on.
    pub(crate) fn take(&self, session: SessionId) -> Result<Lease, StoreError> {
        let hold = match self {
            Self::Memory(working) => {
                if !working.lock().insert(session) {
                    return Err(StoreError::AtWork(session));
                }
                Hold::Memory(Arc::clone(working), session)
            }
            Self::Folder(folder) => {
                let path = folder.join(session.to_string());
                let Some(lock) = locked(folder, &path)? else {
                    return Err(StoreError::AtWork(session));
                };
                Hold::File { _lock: lock, path }
            }
        };
        Ok(Lease(hold))
    }

    /// Whether somebody works on it right now.
    pub(crate) fn is_at_work(&self, session: SessionId) -> bool {
        match self {
            Self::Memory(working) => working.lock().contains(&session),
            Self::Folder(folder) => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = rustix::fs::open(folder.join(session.to_string()), flags, Mode::empty());
                file.is_ok_and(|file| {
                    rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
                })
            }
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        match &self.0 {
            // Removed while it is locked: whoever opened it before finds another file in its place, or none, and tries again.
            // A file that cannot be removed is an unlocked one in the next moment, and harms nobody.
            Hold::File { path, .. } => {
                let _ = rustix::fs::unlink(path);
            }
            Hold::Memory(working, session) => {
                working.lock().remove(session);
            }
        }
    }
}

/// The locked file at `path`, or `None` where somebody else has it.
fn locked(folder: &Path, path: &Path) -> Result<Option<OwnedFd>, StoreError> {
    let failed = |error: std::io::Error| StoreError::Io { path: path.to_owned(), detail: error.to_string() };
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for attempt in 0..TRIES {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        let file = match rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::NOENT) => {
                metier_files::private_folder(folder).map_err(failed)?;
                continue;
            }
            other => other.map_err(|error| failed(error.into()))?,
        };
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if is_at(&file, path) => return Ok(Some(file)),
            // Its last owner has removed it between our opening and our locking: this one is nobody's any more.
            Ok(()) | Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(error) => return Err(failed(error.into())),
        }
    }
    Ok(None)
}

/// Whether the file that was opened is the one that has this name.
fn is_at(file: &OwnedFd, path: &Path) -> bool {
    match (rustix::fs::fstat(file), rustix::fs::lstat(path)) {
        (Ok(own), Ok(named)) => (own.st_dev, own.st_ino) == (named.st_dev, named.st_ino),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn one_has_it_at_a_time_and_the_next_when_it_is_let_go_of() {
        let workspace = Workspace::new();
        let folder = Leases::beside(&workspace.join("data/metier.db"));
        for leases in [folder, Leases::in_memory()] {
            let (one, other) = (SessionId::new().unwrap(), SessionId::new().unwrap());
            let held = leases.take(one).unwrap();
            assert!(matches!(leases.take(one), Err(StoreError::AtWork(id)) if id == one));
            assert!(leases.is_at_work(one) && !leases.is_at_work(other));
            leases.take(other).unwrap();
            drop(held);
            assert!(!leases.is_at_work(one));
            leases.take(one).unwrap();
        }
    }

    #[test]
    fn of_many_who_want_it_at_once_one_has_it() {
        let workspace = Workspace::new();
        let leases = Leases::beside(&workspace.join("metier.db"));
        let session = SessionId::new().unwrap();
        let inside = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let Ok(lease) = leases.take(session) else { continue };
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(lease);
                    }
                });
            }
        });
    }
}
