//! Taking a call back.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

/// Takes calls back. Copies are the same one: whoever has a copy can end every call that was given one.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<OwnedFd>);

impl Cancel {
    /// One that nobody has used yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    /// Ends all calls that have this one, and those that will get it.
    pub fn cancel(&self) {
        // A full counter means that it has been said often enough.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }

    /// Whether it was said. For work that is no call of a process and looks now and then.
    pub fn is_cancelled(&self) -> bool {
        // Looked at and not read: everybody who waits shall see it.
        let mut watched = [PollFd::new(&*self.0, PollFlags::IN)];
        poll(&mut watched, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

impl AsFd for Cancel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_looks_sees_it_as_often_as_they_look() {
        let cancel = Cancel::new().unwrap();
        assert!(!cancel.is_cancelled());
        cancel.clone().cancel();
        assert!(cancel.is_cancelled() && cancel.is_cancelled());
    }
}
