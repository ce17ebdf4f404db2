//! A connection that does not outlast its time.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::patience::Patience;

/// A connection with a time for all of it and one for each silence. Every read and write asks anew how much is left, so a
/// server that sends a byte now and then gains nothing; and now and then whether anybody still wants it.
#[derive(Debug)]
pub(super) struct Timed<'a> {
    stream: TcpStream,
    patience: Patience<'a>,
    silence: Duration,
}

impl<'a> Timed<'a> {
    pub(super) fn new(stream: TcpStream, patience: Patience<'a>, silence: Duration) -> Self {
        Self { stream, patience, silence }
    }

    /// Tries again until it works, the silence is too long, the time is over or nobody wants it any more.
    fn until_done<T>(
        &mut self,
        mut attempt: impl FnMut(&mut TcpStream, Duration) -> io::Result<T>,
    ) -> io::Result<T> {
        let began = Instant::now();
        loop {
            let left = self.patience.next(self.silence.saturating_sub(began.elapsed()))?;
            match attempt(&mut self.stream, left) {
                // A time that is over has two names on one system.
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                }
                other => return other,
            }
        }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.until_done(|stream, left| {
            stream.set_read_timeout(Some(left))?;
            stream.read(buffer)
        })
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.until_done(|stream, left| {
            stream.set_write_timeout(Some(left))?;
            stream.write(bytes)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
