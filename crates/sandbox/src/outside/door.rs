//! The gateway as seen from the caller's side.

use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::call::refused;
use crate::command::Command;
use crate::error::Error;
use crate::profile::{Network, Profile};
use crate::wire::{Reply, receive};

/// How long the process that watches over a call may take to open its gateway before it counts as lost.
const LONGEST: Duration = Duration::from_secs(10);

/// The gateway of a call that runs. When this is dropped nobody takes connections any more: whoever waits for one in
/// another thread is woken up with an error, and so knows that the call is over.
#[derive(Debug)]
pub(crate) struct Door(OwnedFd);

impl Door {
    /// Takes what listens at the gateway, where the profile has one: the first thing that comes over a call's line.
    pub(crate) fn take(
        line: &OwnedFd,
        profile: &Profile,
        command: &Command,
    ) -> Result<Option<(Self, TcpListener)>, Error> {
        if profile.network == Network::None {
            return Ok(None);
        }
        let lost = || Error::Helper("did not open the gateway".into());
        let timeout = Timespec { tv_sec: i64::try_from(LONGEST.as_secs()).unwrap_or(i64::MAX), tv_nsec: 0 };
        // A signal that interrupts this only means that it is not bounded for once.
        if poll(&mut [PollFd::new(line, PollFlags::IN)], Some(&timeout)) == Ok(0) {
            return Err(lost());
        }
        let message = receive(line.as_fd())?.ok_or_else(lost)?;
        match Reply::decode(&message.bytes).map_err(|_| lost())? {
            Reply::Gateway => {}
            Reply::Failed(failure) => return Err(refused(failure, command)),
            Reply::Ready { .. } | Reply::Ended(_) => return Err(lost()),
        }
        let listener = TcpListener::from(message.descriptors.into_iter().next().ok_or_else(lost)?);
        let door = Self(listener.try_clone()?.into());
        Ok(Some((door, listener)))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.0, rustix::net::Shutdown::Both);
    }
}
