//! The one door of a call to the outside: a port of its own loopback device, behind which the caller listens.
//!
//! The port is opened by the process that watches over the call, before it has given up its rights, and what listens on it
//! goes out to the caller. The program never has it: it can only connect.

use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};

use super::failure::During;
use crate::kernel::raise_loopback;
use crate::profile::{GATEWAY, Network};
use crate::wire::{Failure, Reply, deliver};

/// How many connections wait until the caller takes them. Where one is turned away, the kernel tries again a whole second
/// later, so a program that opens hundreds at once needs room for all of them.
const WAITING: i32 = 1024;

/// What listens at the gateway, until it is handed over.
#[derive(Debug)]
pub(crate) struct Gateway(Option<OwnedFd>);

impl Gateway {
    /// Opens the door, where the profile has one. This process has a network namespace of its own by then: the port means
    /// nothing outside of it, so it can be the same one in every call.
    pub(crate) fn open(network: Network) -> Result<Self, Failure> {
        match network {
            Network::None => Ok(Self(None)),
            Network::Gateway => listener().during(|| "opening the gateway".into()).map(|it| Self(Some(it))),
        }
    }

    /// Hands it out to the caller, and keeps nothing of it.
    pub(crate) fn hand_over(self, caller: impl AsFd) -> Result<(), Failure> {
        match self.0 {
            Some(listener) => deliver(caller.as_fd(), &Reply::Gateway.encode(), &[listener.as_fd()])
                .during(|| "handing over the gateway".into()),
            None => Ok(()),
        }
    }
}

fn listener() -> std::io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    raise_loopback(socket.as_fd())?;
    bind(&socket, &GATEWAY)?;
    listen(&socket, WAITING)?;
    Ok(socket)
}
