//! The program's side of a connection, before there is another side.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use crate::stop::{Stop, Woken};

/// How long and how much a program that was refused may go on speaking. Closing at once would throw away the answer
/// together with what it was still saying.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_CLOSE_BYTES: usize = 256 * 1024;

/// How much is read at a time.
const MAX_CHUNK: usize = 16 * 1024;

/// Who speaks to the proxy, and what has been heard so far.
pub(crate) struct Client<'a> {
    pub(crate) stream: Arc<TcpStream>,
    pub(crate) heard: Vec<u8>,
    stop: &'a Stop,
    until: Instant,
}

/// Why nothing more is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    Closed,
    Late,
    Stopped,
}

impl<'a> Client<'a> {
    pub(crate) fn new(stream: TcpStream, stop: &'a Stop, until: Instant) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: Arc::new(stream), heard: Vec::new(), stop, until })
    }

    /// Hears at least one more byte.
    pub(crate) fn listen(&mut self) -> Result<(), Lost> {
        let mut piece = [0; MAX_CHUNK];
        loop {
            match (&*self.stream).read(&mut piece) {
                Ok(0) => return Err(Lost::Closed),
                Ok(length) => {
                    self.heard.extend_from_slice(&piece[..length]);
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(PollFlags::IN, self.until)?;
                }
                Err(_) => return Err(Lost::Closed),
            }
        }
    }

    /// Says all of it.
    pub(crate) fn say(&self, mut bytes: &[u8]) -> Result<(), Lost> {
        // Answers are short, and a program that does not read them has had its time.
        let until = Instant::now() + CLOSE_TIMEOUT;
        while !bytes.is_empty() {
            match (&*self.stream).write(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(PollFlags::OUT, until)?,
                Err(_) => return Err(Lost::Closed),
            }
        }
        Ok(())
    }

    /// Says the last word and waits until it has been heard.
    pub(crate) fn part(&self, bytes: &[u8]) {
        if self.say(bytes).is_err() || self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let (until, mut left, mut piece) = (Instant::now() + CLOSE_TIMEOUT, MAX_CLOSE_BYTES, [0; MAX_CHUNK]);
        while left > 0 {
            match (&*self.stream).read(&mut piece) {
                Ok(0) => return,
                Ok(length) => left = left.saturating_sub(length),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.wait(PollFlags::IN, until).is_err() {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    fn wait(&self, flags: PollFlags, until: Instant) -> Result<(), Lost> {
        match self.stop.wait(&[(&*self.stream, flags)], Some(until)) {
            Ok(Woken::Ready) => Ok(()),
            Ok(Woken::Late) => Err(Lost::Late),
            Ok(Woken::Stopped) => Err(Lost::Stopped),
            Err(_) => Err(Lost::Closed),
        }
    }
}
