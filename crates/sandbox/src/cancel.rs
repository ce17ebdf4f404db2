//! Taking a call back.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};

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
}

impl AsFd for Cancel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
