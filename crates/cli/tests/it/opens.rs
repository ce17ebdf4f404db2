//! How often the program opens a file, as the kernel counts it.

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Counts how often files are opened, by anybody.
pub(crate) struct Opens {
    inotify: OwnedFd,
    names: BTreeMap<i32, String>,
}

impl Opens {
    /// Counts from now on.
    pub(crate) fn of(files: &[(&str, &Path)]) -> Self {
        let inotify = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        // The kernel merges an event into an equal one before it. Closing a file makes a different event, so that two
        // opens stay two.
        let flags = WatchFlags::OPEN | WatchFlags::CLOSE;
        let names = files.iter().map(|(name, path)| {
            let watch = add_watch(&inotify, *path, flags)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (watch, (*name).to_owned())
        });
        let names = names.collect();
        Self { inotify, names }
    }

    /// How often each was opened since the last count.
    pub(crate) fn count(&self) -> BTreeMap<&str, usize> {
        let mut counts: BTreeMap<&str, usize> = self.names.values().map(|name| (name.as_str(), 0)).collect();
        let mut buffer = vec![MaybeUninit::uninit(); 64 << 10];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        while let Ok(event) = reader.next() {
            assert!(!event.events().contains(ReadFlags::QUEUE_OVERFLOW), "too many events to count");
            if event.events().contains(ReadFlags::OPEN)
                && let Some(count) =
                    self.names.get(&event.wd()).and_then(|name| counts.get_mut(name.as_str()))
            {
                *count += 1;
            }
        }
        counts
    }
}
