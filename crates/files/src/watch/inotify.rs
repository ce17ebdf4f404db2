use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch};
use rustix::io::{Errno, read, write};

use super::{Interest, Wait, WatchError, WatchEvent, WatchToken};

/// Events that one call of the system fetches: some hundreds, so that a checkout of a branch is a few calls.
const BUFFER: usize = 32 * 1024;

/// The folders that are watched, and the events of them that nobody has fetched yet.
#[derive(Debug)]
pub struct Watch {
    inotify: OwnedFd,
    waker: Waker,
    tokens: HashSet<WatchToken>,
    limit: usize,
    buffer: Vec<u8>,
}

/// Ends a [`Watch::wait`] from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// Ends the wait that is going on, or the next one.
    pub fn wake(&self) {
        // It fails only where the counter is full, and then whoever waits is woken already.
        let _ = write(&*self.0, &1_u64.to_ne_bytes());
    }
}

impl Watch {
    /// Watches nothing yet, and never more than `limit` folders, whatever the system would allow.
    pub fn new(limit: usize) -> Result<Self, WatchError> {
        let inotify = match init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK) {
            Ok(inotify) => inotify,
            Err(Errno::MFILE) => return Err(WatchError::Instances),
            Err(Errno::NOSYS) => return Err(WatchError::Unsupported),
            Err(error) => return Err(WatchError::System(error.into())),
        };
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| WatchError::System(error.into()))?;
        let waker = Waker(Arc::new(wake));
        Ok(Self { inotify, waker, tokens: HashSet::new(), limit, buffer: Vec::with_capacity(BUFFER) })
    }

    /// Watches a folder, what is in it but nothing below that. A folder that is watched already is watched for both
    /// interests.
    pub fn add(&mut self, folder: &Path, interest: Interest) -> Result<WatchToken, WatchError> {
        let names = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE;
        let itself = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        let wanted = match interest {
            Interest::Entries => names | itself | WatchFlags::CLOSE_WRITE | WatchFlags::ATTRIB,
            Interest::Itself => itself,
        };
        // EXCL_UNLINK is not asked for: a file that is removed while it is open must still be told of by its folder.
        let wanted = wanted | WatchFlags::ONLYDIR | WatchFlags::MASK_ADD;
        let limit = WatchError::Limit { count: self.tokens.len() };
        let token = match add_watch(&self.inotify, folder, wanted) {
            Ok(token) => WatchToken(token),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Err(WatchError::Missing),
            Err(Errno::NOSPC) => return Err(limit),
            Err(error) => return Err(WatchError::System(error.into())),
        };
        if self.tokens.insert(token) && self.tokens.len() > self.limit {
            self.remove(token);
            return Err(limit);
        }
        Ok(token)
    }

    /// Watches a folder no longer.
    pub fn remove(&mut self, token: WatchToken) {
        if self.tokens.remove(&token) {
            // It fails where the folder is gone, and the system has removed its watch already.
            let _ = remove_watch(&self.inotify, token.0);
        }
    }

    /// How many folders are watched.
    pub fn count(&self) -> usize {
        self.tokens.len()
    }

    /// Waits for events and calls `take` with each of those that are there.
    pub fn wait(
        &mut self,
        timeout: Option<Duration>,
        take: impl FnMut(WatchEvent<'_>),
    ) -> Result<Wait, WatchError> {
        let timeout = timeout.map(|time| Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: time.subsec_nanos().into(),
        });
        let mut wanted =
            [PollFd::new(&self.inotify, PollFlags::IN), PollFd::new(&*self.waker.0, PollFlags::IN)];
        match poll(&mut wanted, timeout.as_ref()) {
            // A signal ends the wait early. Whoever waits goes on as if the time were up, which it soon would be.
            Ok(0) | Err(Errno::INTR) => return Ok(Wait::Timeout),
            Err(error) => return Err(WatchError::System(error.into())),
            Ok(_) => {}
        }
        let is_woken = !wanted[1].revents().is_empty();
        if is_woken {
            let mut counter = [0; 8];
            let _ = read(&*self.waker.0, &mut counter);
            return Ok(Wait::Woken);
        }
        self.fetch(take)?;
        Ok(Wait::Events)
    }

    /// Ends a wait from another thread.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn fetch(&mut self, mut take: impl FnMut(WatchEvent<'_>)) -> Result<(), WatchError> {
        self.buffer.clear();
        let mut reader = Reader::new(&self.inotify, self.buffer.spare_capacity_mut());
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::WOULDBLOCK) => return Ok(()),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(WatchError::System(error.into())),
            };
            let (token, what) = (WatchToken(event.wd()), event.events());
            if what.contains(ReadFlags::QUEUE_OVERFLOW) {
                take(WatchEvent::Overflow);
            } else if what.contains(ReadFlags::IGNORED) {
                // The system has forgotten the folder. That it is gone was said by the event before this one; where we
                // removed the watch ourselves nobody needs to know. A number is not given out twice.
                self.tokens.remove(&token);
            } else if let Some(name) = event.file_name() {
                let is_folder = what.contains(ReadFlags::ISDIR);
                take(WatchEvent::Entry { token, name: OsStr::from_bytes(name.to_bytes()), is_folder });
            } else {
                let gone = ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::UNMOUNT;
                take(WatchEvent::Folder { token, is_gone: what.intersects(gone) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    fn told(watch: &mut Watch, wanted: usize) -> Vec<(WatchToken, String, bool)> {
        let mut told = Vec::new();
        while told.len() < wanted {
            let wait = watch.wait(Some(Duration::from_secs(10)), |event| match event {
                WatchEvent::Entry { token, name, is_folder } => {
                    told.push((token, name.to_string_lossy().into_owned(), is_folder));
                }
                WatchEvent::Folder { token, is_gone } => told.push((token, String::new(), is_gone)),
                WatchEvent::Overflow => panic!("so few events do not overflow"),
            });
            assert_eq!(wait.unwrap(), Wait::Events, "{told:?}");
        }
        told
    }

    #[test]
    fn what_happens_in_a_folder_is_told_and_what_is_below_is_not() {
        let workspace = Workspace::new().dir("a/below").file("a/file", "1");
        let mut watch = Watch::new(10).unwrap();
        let token = watch.add(&workspace.join("a"), Interest::Entries).unwrap();
        std::fs::write(workspace.join("a/below/file"), "1").unwrap();
        std::fs::write(workspace.join("a/file"), "2").unwrap();
        std::fs::create_dir(workspace.join("a/new")).unwrap();
        let expected = [(token, "file".to_owned(), false), (token, "new".to_owned(), true)];
        assert_eq!(told(&mut watch, 2), expected);
        std::fs::remove_dir_all(workspace.join("a")).unwrap();
        let told = told(&mut watch, 4);
        assert!(told.contains(&(token, String::new(), true)), "{told:?}");
    }

    #[test]
    fn one_folder_has_one_token_and_the_limit_counts_folders() {
        let workspace = Workspace::new().dir("a").dir("b").dir("c").symlink("link", "a");
        let mut watch = Watch::new(2).unwrap();
        let a = watch.add(&workspace.join("a"), Interest::Itself).unwrap();
        assert_eq!(watch.add(&workspace.join("link"), Interest::Entries), Ok(a));
        let b = watch.add(&workspace.join("b"), Interest::Entries).unwrap();
        assert_eq!(watch.add(&workspace.join("c"), Interest::Entries), Err(WatchError::Limit { count: 2 }));
        watch.remove(b);
        assert!(watch.add(&workspace.join("c"), Interest::Entries).is_ok());
        assert_eq!(watch.add(&workspace.join("none"), Interest::Entries), Err(WatchError::Missing));
        assert_eq!(watch.count(), 2);
    }

    #[test]
    fn more_than_the_system_remembers_is_told_as_an_overflow() {
        let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
        let limit: usize = limit.trim().parse().unwrap();
        assert!(limit <= 200_000, "this machine remembers {limit} events, too many to fill in a test");
        let workspace = Workspace::new().dir("a");
        let mut watch = Watch::new(1).unwrap();
        watch.add(&workspace.join("a"), Interest::Entries).unwrap();
        // Two events each, of which no two that follow each other are alike: those would be told as one.
        for at in 0..=limit / 2 {
            std::fs::write(workspace.join(format!("a/{}", at % 2)), "").unwrap();
            std::fs::remove_file(workspace.join(format!("a/{}", at % 2))).unwrap();
        }
        let mut overflows = 0;
        watch
            .wait(Some(Duration::from_secs(10)), |event| {
                overflows += usize::from(event == WatchEvent::Overflow);
            })
            .unwrap();
        assert_eq!(overflows, 1);
    }

    #[test]
    fn a_wait_ends_when_the_time_is_up_or_somebody_wakes_it() {
        let mut watch = Watch::new(1).unwrap();
        assert_eq!(watch.wait(Some(Duration::from_millis(1)), |_| ()), Ok(Wait::Timeout));
        let waker = watch.waker();
        let other = std::thread::spawn(move || waker.wake());
        assert_eq!(watch.wait(None, |_| ()), Ok(Wait::Woken));
        other.join().unwrap();
        assert_eq!(watch.wait(Some(Duration::from_millis(1)), |_| ()), Ok(Wait::Timeout));
    }
}
