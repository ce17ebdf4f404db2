//! The mounts as they were before a room made its own root. A layer is known only with the call, and lies where the view
//! shows nothing.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::failure::During;
use crate::kernel::leave_mounts;
use crate::wire::Failure;

/// A mount namespace that shows everything, kept by a room that is in another one.
#[derive(Debug)]
pub(crate) struct OuterMounts(OwnedFd);

impl OuterMounts {
    /// Keeps the present mounts, and gives this process a copy of them.
    pub(crate) fn keep() -> Result<Self, Failure> {
        let kept = own_mounts()?;
        leave_mounts().during(|| "making a mount namespace".into())?;
        Ok(Self(kept))
    }

    /// Does something among the outer mounts, and comes back. What was opened there stays open.
    pub(crate) fn visit<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let own = own_mounts()?;
        go_to(&self.0)?;
        let result = work();
        // Whatever happened: nothing may run out there.
        go_to(&own)?;
        result
    }
}

fn own_mounts() -> Result<OwnedFd, Failure> {
    openat(CWD, "/proc/self/ns/mnt", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .during(|| "opening the mount namespace".into())
}

fn go_to(mounts: &OwnedFd) -> Result<(), Failure> {
    move_into_link_name_space(mounts.as_fd(), Some(LinkNameSpaceType::Mount))
        .during(|| "changing the mount namespace".into())
}
