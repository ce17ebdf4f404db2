//! The one door of a call to the outside: a port of its own loopback device, behind which the caller listens.
//!
//! The port is opened by the process that watches over the call, before it has given up its rights, and what listens on it
//! goes out to the caller. The program never has it: it can only connect.

use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};
use rustix::process::{PidfdFlags, getpid, pidfd_open};

use super::failure::During;
use crate::kernel::raise_loopback;
use crate::profile::{GATEWAY, Network};
use crate::wire::{Failure, Reply, deliver, encode};

/// How many connections wait until the caller takes them. Where one is turned away, the kernel tries again a whole second
/// later, so a program that opens hundreds at once needs room for all of them.
const WAITING: i32 = 1024;

/// Opens what listens at the gateway, where the profile has one. This process has a network namespace of its own by then: the
/// port means nothing outside of it, so it can be the same one in every call.
pub(crate) fn open_gateway(network: Network) -> Result<Option<OwnedFd>, Failure> {
    match network {
        Network::None => Ok(None),
        Network::Gateway => listener().during(|| "opening the gateway".into()).map(Some),
    }
}

/// A handle to this process, the supervisor of a call: with it the caller can end the call without our help.
#[derive(Debug)]
pub(crate) struct OwnHandle(OwnedFd);

impl OwnHandle {
    /// For this process, while it may still open one.
    pub(crate) fn new() -> Result<Self, Failure> {
        pidfd_open(getpid(), PidfdFlags::empty()).during(|| "opening the supervisor".into()).map(Self)
    }

    /// Hands it out to the caller with what listens at the gateway, and keeps nothing of either. No program runs before.
    pub(crate) fn hand_over(self, caller: impl AsFd, gateway: Option<OwnedFd>) -> Result<(), Failure> {
        let handed = [Some(self.0), gateway];
        let descriptors: Vec<_> = handed.iter().flatten().map(AsFd::as_fd).collect();
        deliver(caller.as_fd(), &encode(&Reply::Supervised), &descriptors)
            .during(|| "handing over the supervisor".into())
    }
}

fn listener() -> std::io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    raise_loopback(socket.as_fd())?;
    bind(&socket, &GATEWAY)?;
    listen(&socket, WAITING)?;
    Ok(socket)
}
