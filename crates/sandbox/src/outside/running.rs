//! A process that runs for as long as somebody talks to it: a server that speaks over its streams, a hook, git.

use std::io::{self, PipeReader, PipeWriter};
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};

use super::call::{CallLine, END_TIMEOUT, refused};
use super::control_group::Group;
use super::launcher::Lease;
use super::supervised::{GatewaySocket, Supervised, Supervisor, wait_for};
use crate::command::Command;
use crate::error::Error;
use crate::profile::Profile;
use crate::report::{Denied, Ended, Stop};
use crate::wire::{self, Reply, Start, TO_STOP, decode, deliver, encode, receive};

/// A contained process with its streams in the caller's hands. All limits of its profile hold but the one on time: how long
/// it may take is for the caller to say, with [`Running::end`]. When this is dropped, every process of it is ended.
#[derive(Debug)]
pub struct Running {
    socket: OwnedFd,
    command: Command,
    /// What it reads. Closing it is how most servers are told to end.
    pub stdin: Option<PipeWriter>,
    /// What it writes.
    pub stdout: Option<PipeReader>,
    /// What it complains of. Somebody has to read this, or it stops when the pipe is full.
    pub stderr: Option<PipeReader>,
    /// What listens at its gateway, where its profile has one. Connections wait until somebody takes them from here; when
    /// the process has ended, `accept` fails.
    pub gateway: Option<TcpListener>,
    gateway_socket: Option<GatewaySocket>,
    supervisor: Supervisor,
    group: Option<Group>,
    #[expect(dead_code, reason = "it does its work by being held")]
    lease: Lease,
}

/// How a process that ran for a while ended. Nothing of it is alive any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// What it tried and was not given, as far as the kernel tells.
    pub denied: Vec<Denied>,
}

impl Running {
    /// Hands a command over to the process that will watch over it. Its own input is not used.
    pub(crate) fn start(
        line: CallLine,
        lease: Lease,
        profile: &Profile,
        command: &Command,
    ) -> Result<Self, Error> {
        let Supervised { supervisor, gateway } = Supervised::take(&line, profile, command)?;
        let CallLine { socket, group, .. } = line;
        let (gateway_socket, gateway) = gateway.unzip();
        let (input, stdin) = io::pipe()?;
        let (stdout, out) = io::pipe()?;
        let (stderr, err) = io::pipe()?;
        let start = Start {
            program: command.program.clone(),
            arguments: command.arguments.clone(),
            layer: None,
            has_worked: false,
        };
        deliver(socket.as_fd(), &encode(&start), &[input.as_fd(), out.as_fd(), err.as_fd()])?;
        Ok(Self {
            socket,
            command: command.clone(),
            stdin: Some(stdin),
            stdout: Some(stdout),
            stderr: Some(stderr),
            gateway,
            gateway_socket,
            supervisor,
            group,
            lease,
        })
    }

    /// Ends it now, with everything it started.
    pub fn end(mut self) -> Result<Finished, Error> {
        // If it has ended by itself, nobody reads this.
        let _ = deliver(self.socket.as_fd(), TO_STOP, &[]);
        self.stdin = None;
        if !wait_for(&self.socket, END_TIMEOUT) {
            self.supervisor.kill();
            return Err(Error::Helper("did not answer, and was killed with the process".into()));
        }
        self.wait()
    }

    /// Waits until it has ended by itself. Its input is closed first, so that it does not wait for more.
    pub fn wait(mut self) -> Result<Finished, Error> {
        self.stdin = None;
        let lost = || Error::Helper("ended before the process did".into());
        let message = receive(self.socket.as_fd())?;
        self.gateway_socket = None;
        let out_of_memory = self.group.as_ref().is_some_and(Group::is_out_of_memory);
        let message = match message {
            // The kernel took the process that watched over it, and with it all others.
            None if out_of_memory => {
                return Ok(Finished { ended: Ended::Stopped(Stop::Memory), denied: Vec::new() });
            }
            message => message.ok_or_else(lost)?,
        };
        match decode::<Reply>(&message.bytes).map_err(|_| lost())? {
            Reply::Ended(wire::Ended { how, denied, .. }) => {
                self.supervisor.is_over();
                let ended = if out_of_memory { Ended::Stopped(Stop::Memory) } else { how };
                Ok(Finished { ended, denied })
            }
            Reply::Failed(failure) => {
                self.supervisor.is_over();
                Err(refused(failure, &self.command))
            }
            Reply::Ready { .. } | Reply::Supervised => Err(lost()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tier::Tier;
    use crate::wire::pair;

    #[test]
    fn a_helper_that_is_gone_is_an_error_and_not_a_wait() {
        let (socket, theirs) = pair().unwrap();
        drop(theirs);
        let profile = Profile::new("/".into());
        let line = CallLine { socket, group: None, notes: Vec::new(), tier: Tier::Namespaces };
        let running = Running::start(line, Lease::default(), &profile, &Command::new("/bin/true"));
        assert!(matches!(running, Err(Error::Containment { .. })));
    }
}
