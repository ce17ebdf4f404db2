//! Carrying bytes from socket to socket without copying them: the kernel hands pages on through a pipe.

use std::io;
use std::net::TcpStream;
use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};

/// How much a pipe should hold, if the user may have so much. The kernel's own choice is a quarter of it.
const SIZE: usize = 256 * 1024;

/// A pipe, and what is in it.
#[derive(Debug)]
pub(crate) struct Pipe {
    end: OwnedFd,
    beginning: OwnedFd,
    held: usize,
}

impl Pipe {
    pub(crate) fn new() -> io::Result<Self> {
        let (end, beginning) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // A smaller one carries the same bytes in more turns.
        let _ = fcntl_setpipe_size(&beginning, SIZE);
        Ok(Self { end, beginning, held: 0 })
    }

    /// Whether there is something in it.
    pub(crate) fn holds(&self) -> bool {
        self.held > 0
    }

    /// Takes what a socket has; zero at its end.
    pub(crate) fn fill(&mut self, from: &TcpStream) -> io::Result<usize> {
        let length = splice(from, None, &self.beginning, None, SIZE, flags())?;
        self.held += length;
        Ok(length)
    }

    /// Gives to a socket what it takes.
    pub(crate) fn drain(&mut self, to: &TcpStream) -> io::Result<usize> {
        let length = splice(&self.end, None, to, None, self.held, flags())?;
        self.held -= length;
        Ok(length)
    }
}

fn flags() -> SpliceFlags {
    SpliceFlags::MOVE | SpliceFlags::NONBLOCK
}
