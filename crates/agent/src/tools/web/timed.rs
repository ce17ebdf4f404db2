//! A connection that does not outlast its time.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A connection with a time for all of it and one for each silence. Every read and write asks anew how much is left, so a
/// server that sends a byte now and then gains nothing.
#[derive(Debug)]
pub(super) struct Timed {
    stream: TcpStream,
    until: Instant,
    silence: Duration,
}

impl Timed {
    pub(super) fn new(stream: TcpStream, until: Instant, silence: Duration) -> Self {
        Self { stream, until, silence }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left.min(self.silence)) }
    }
}

/// A time that is over has two names on one system.
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock { io::ErrorKind::TimedOut.into() } else { error }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(buffer).map_err(timed_out)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes).map_err(timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
