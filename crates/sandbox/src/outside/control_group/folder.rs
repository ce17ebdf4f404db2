//! A group's folder, opened, and its files.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::fs::{
    Access, AtFlags, CWD, Gid, Mode, OFlags, Uid, accessat, chownat, fchmod, mkdirat, openat, unlinkat,
};
use rustix::io::Errno;

use crate::folder::{entries, open_folder};
use crate::lock::lock;

/// The longest file of the kernel's that is read here: a list of mounts.
const MAX_MOUNTS: u64 = 4 << 20;

/// How often is looked meanwhile.
const LOOK: Duration = Duration::from_micros(500);

/// What is known of a group that has had its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finished {
    /// Whatever is in it is dying, so it is soon empty.
    Dying,
    /// Whoever is in it ends when somebody else lets go.
    Ending,
}

impl Finished {
    /// How long it is waited for at the end. What is left then is removed by the next process that makes groups there.
    const fn patience(self) -> Duration {
        match self {
            // A busy machine takes its time to take a process down.
            Self::Dying => Duration::from_millis(500),
            // It may be that somebody does not let go before the sandbox does.
            Self::Ending => Duration::from_millis(100),
        }
    }
}

/// A folder in which groups of ours are made, and which of them have had their time and are not yet removed: a group can
/// only be removed when its last process is dead, and nobody waits for that.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: OwnedFd,
    finished: Mutex<Vec<(String, Finished)>>,
}

impl Folder {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::new(open_folder(CWD, path)?))
    }

    fn new(folder: OwnedFd) -> Self {
        Self { folder, finished: Mutex::default() }
    }

    /// Makes a group in it.
    pub(crate) fn make(&self, name: &str) -> io::Result<OwnedFd> {
        self.clear_finished();
        mkdirat(&self.folder, name, Mode::from_raw_mode(0o755))?;
        Ok(open_folder(&self.folder, name)?)
    }

    /// Makes a group in it that holds groups itself.
    pub(crate) fn make_folder(&self, name: &str) -> io::Result<Self> {
        self.make(name).map(Self::new)
    }

    /// Opens a group in it that holds groups itself.
    pub(crate) fn inner(&self, name: &str) -> io::Result<Self> {
        Ok(Self::new(open_folder(&self.folder, name)?))
    }

    /// Removes a group as soon as it is empty.
    pub(crate) fn finish(&self, name: &str, finished: Finished) {
        lock(&self.finished).push((name.to_owned(), finished));
        self.clear_finished();
    }

    /// Removes an empty group. The kernel refuses where there is a process or a group in it.
    pub(crate) fn remove(&self, name: &str) -> rustix::io::Result<()> {
        unlinkat(&self.folder, name, AtFlags::REMOVEDIR)
    }

    /// Removes what can be removed by now; gives how long the rest is worth waiting for.
    fn clear_finished(&self) -> Duration {
        let mut finished = lock(&self.finished);
        finished.retain(|(name, _)| self.remove(name) == Err(Errno::BUSY));
        finished.iter().map(|(_, finished)| finished.patience()).max().unwrap_or_default()
    }

    /// The same for some time; gives whether nothing is left. What is, is left to whoever comes next.
    pub(crate) fn clear(&self) -> bool {
        let began = Instant::now();
        while self.clear_finished() > began.elapsed() {
            std::thread::sleep(LOOK);
        }
        std::mem::take(&mut *lock(&self.finished)).is_empty()
    }

    /// The names of what lies in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let listed = entries(&self.folder).into_iter().flatten().flatten();
        listed.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned)).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.clear();
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

/// Writes to a file of a group.
pub(crate) fn set(group: impl AsFd, file: &str, text: &str) -> rustix::io::Result<()> {
    let file = openat(group, file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.as_bytes()).map(drop)
}

/// Lets a user put processes into a group who may do so into the one above.
pub(crate) fn give(group: impl AsFd, user: u32) -> rustix::io::Result<()> {
    let (user, gid) = (Some(Uid::from_raw(user)), Some(Gid::from_raw(user)));
    chownat(group, "cgroup.procs", user, gid, AtFlags::SYMLINK_NOFOLLOW)
}

/// Lets every user put processes from one group below this one into another, who may do so in the other.
pub(crate) fn open_to_all(group: impl AsFd) -> rustix::io::Result<()> {
    let file = openat(group, "cgroup.procs", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    fchmod(file, Mode::from_raw_mode(0o666))
}

/// Reads a file of a group; these are short.
pub(crate) fn get(group: impl AsFd, file: &str) -> io::Result<String> {
    let file = openat(group, file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    read_all(file)
}

/// Reads a file of the kernel's.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let file = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    read_all(file)
}

fn read_all(file: OwnedFd) -> io::Result<String> {
    let mut bytes = Vec::new();
    if File::from(file).take(MAX_MOUNTS + 1).read_to_end(&mut bytes)? as u64 > MAX_MOUNTS {
        return Err(Errno::FBIG.into());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether this process may write to a file, or make something in a folder.
pub(crate) fn may_write(path: &Path) -> bool {
    accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}
