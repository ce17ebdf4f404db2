//! The supervisor of a call, and its gateway, as seen from the caller's side.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, pidfd_send_signal};

use super::call::{CallLine, refused};
use crate::command::Command;
use crate::error::Error;
use crate::inside::{Proc, field, kill_each};
use crate::profile::{Network, Profile};
use crate::tier::Tier;
use crate::wire::{Reply, decode, receive};

/// How long the supervisor of a call may take until it is ready before it counts as lost.
const READY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the kernel may take to end the processes of a call.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// How often processes of a call are listed and killed where there is no namespace that ends with its first one. Each time
/// what was started meanwhile is found.
const MAX_ROUNDS: u32 = 1000;

/// A handle to the supervisor of a call. When it is dropped before the supervisor has said that the call is over, all
/// processes of the call are killed, and it is waited for their end: whatever went wrong, nothing outlives the call.
#[derive(Debug)]
pub(crate) struct Supervisor {
    process: OwnedFd,
    tier: Tier,
    is_over: bool,
}

impl Supervisor {
    /// The call is over: the supervisor has reaped every other process of it.
    pub(crate) fn is_over(&mut self) {
        self.is_over = true;
        if self.tier != Tier::Landlock {
            // Without namespaces it still has a scratch folder to remove, once the results are taken.
            let _ = pidfd_send_signal(&self.process, Signal::KILL);
        }
    }

    /// Kills every process of the call, and waits for their end.
    pub(crate) fn kill(&mut self) {
        self.is_over = true;
        if self.tier == Tier::Landlock {
            self.kill_descendants();
        }
        // The first process of a namespace takes all others with it, and is not gone before they are.
        if pidfd_send_signal(&self.process, Signal::KILL).is_ok() {
            wait_for(&self.process, KILL_TIMEOUT);
        }
    }

    /// Without a namespace the supervisor adopts what its children leave behind, so all that it started is below it.
    fn kill_descendants(&self) {
        let Ok(proc) = Proc::open() else { return };
        let own = proc.read(&format!("self/fdinfo/{}", self.process.as_raw_fd()));
        let Some(number) = own.ok().flatten().and_then(|text| u32::try_from(field(&text, "Pid:")).ok())
        else {
            return;
        };
        if number == 0 {
            return;
        }
        for _ in 0..MAX_ROUNDS {
            let processes = proc.descendants(number).unwrap_or_default();
            if processes.iter().all(|process| matches!(proc.process(*process), Ok(None))) {
                return;
            }
            kill_each(&processes);
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if !self.is_over {
            self.kill();
        }
    }
}

/// The gateway of a call that runs. When this is dropped nobody takes connections any more: whoever waits for one in
/// another thread is woken up with an error, and so knows that the call is over.
#[derive(Debug)]
pub(crate) struct GatewaySocket(OwnedFd);

impl Drop for GatewaySocket {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.0, rustix::net::Shutdown::Both);
    }
}

/// What comes first over a call's line.
#[derive(Debug)]
pub(crate) struct Supervised {
    pub(crate) supervisor: Supervisor,
    /// What listens at the gateway, where the profile has one.
    pub(crate) gateway: Option<(GatewaySocket, TcpListener)>,
}

impl Supervised {
    /// Waits for the supervisor. It speaks before it starts a program: one that has lost its caller by then starts none.
    pub(crate) fn take(line: &CallLine, profile: &Profile, command: &Command) -> Result<Self, Error> {
        let CallLine { socket, tier, .. } = line;
        let lost = || Error::Helper("did not make a call ready in time".into());
        if !wait_for(socket, READY_TIMEOUT) {
            return Err(lost());
        }
        let message = receive(socket.as_fd())?.ok_or_else(|| ended(*tier))?;
        match decode::<Reply>(&message.bytes).map_err(|_| lost())? {
            Reply::Supervised => {}
            Reply::Failed(failure) => return Err(refused(failure, command)),
            Reply::Ready { .. } | Reply::Ended(_) => return Err(lost()),
        }
        let mut descriptors = message.descriptors.into_iter();
        let process = descriptors.next().ok_or_else(lost)?;
        let supervisor = Supervisor { process, tier: *tier, is_over: false };
        let gateway = match profile.network {
            Network::None => None,
            Network::Gateway => {
                let listener = TcpListener::from(descriptors.next().ok_or_else(lost)?);
                Some((GatewaySocket(listener.try_clone()?.into()), listener))
            }
        };
        Ok(Self { supervisor, gateway })
    }
}

/// The line ended without a word.
fn ended(tier: Tier) -> Error {
    let what = match tier {
        Tier::Bubblewrap => {
            "bubblewrap ended without making its namespaces; `bwrap --unshare-all --ro-bind / / true` shows why"
        }
        Tier::Namespaces | Tier::Landlock => "the supervisor ended before it was ready",
    };
    Error::Containment { what: what.to_owned(), reason: io::ErrorKind::UnexpectedEof.into() }
}

/// Waits until something can be read; false where nothing comes in time.
pub(super) fn wait_for(descriptor: &OwnedFd, longest: Duration) -> bool {
    let began = Instant::now();
    loop {
        let left = longest.saturating_sub(began.elapsed());
        let timeout = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(descriptor, PollFlags::IN)], timeout.as_ref()) {
            Ok(0) => return false,
            Err(Errno::INTR) => {}
            Ok(_) | Err(_) => return true,
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test starts processes of its own")]
mod tests {
    use super::*;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    #[test]
    fn a_call_that_is_not_over_is_killed_with_all_that_came_from_it() {
        let line = "sleep 60 & (setsid sleep 60 & wait) & wait";
        let mut child = std::process::Command::new("/bin/sh").args(["-c", line]).spawn().unwrap();
        let number = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let process = pidfd_open(number, PidfdFlags::empty()).unwrap();
        let proc = Proc::open().unwrap();
        let began = Instant::now();
        while proc.descendants(child.id()).unwrap().len() < 3 && began.elapsed() < KILL_TIMEOUT {
            std::thread::yield_now();
        }
        let below = proc.descendants(child.id()).unwrap();
        assert!(below.len() >= 3, "{below:?}");
        drop(Supervisor { process, tier: Tier::Landlock, is_over: false });
        child.wait().unwrap();
        // Whoever has no parent left is reaped by the machine's first process, in its own time.
        let is_alive = |process: &u32| proc.process(*process).unwrap().is_some();
        while below.iter().any(is_alive) {
            assert!(began.elapsed() < 2 * KILL_TIMEOUT, "{below:?}");
            std::thread::yield_now();
        }
    }
}
