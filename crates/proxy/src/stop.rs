//! The signal that ends everything.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// A pipe with a byte in it that nobody reads: whoever waits for a socket waits for the pipe too and wakes at once.
///
/// The byte and not the closing of the pipe is the signal, since a copy of this process would hold the pipe open.
pub(crate) struct Stop {
    reader: PipeReader,
    writer: PipeWriter,
    is_pulled: AtomicBool,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// A socket is ready.
    Ready,
    /// The time is over.
    Late,
    /// Everything ends.
    Stopped,
}

impl Stop {
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        Ok(Self { reader, writer, is_pulled: AtomicBool::new(false) })
    }

    pub(crate) fn pull(&self) {
        // The pipe takes a byte as long as it is pulled once, and it is.
        if !self.is_pulled.swap(true, Ordering::SeqCst) {
            let _ = (&self.writer).write_all(&[0]);
        }
    }

    pub(crate) fn is_pulled(&self) -> bool {
        self.is_pulled.load(Ordering::SeqCst)
    }

    /// Waits until one of the sockets is ready for what is wanted of it.
    pub(crate) fn wait<S: AsFd>(
        &self,
        wanted: &[(&S, PollFlags)],
        until: Option<Instant>,
    ) -> io::Result<Woken> {
        let mut places = Vec::with_capacity(1 + wanted.len());
        places.push(PollFd::new(&self.reader, PollFlags::IN));
        // A socket of which nothing is wanted would still report that it broke, and nobody would hear it.
        let some = wanted.iter().filter(|(_, flags)| !flags.is_empty());
        places.extend(some.map(|(socket, flags)| PollFd::new(*socket, *flags)));
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            match poll(&mut places, left.as_ref()) {
                Ok(_) if !places[0].revents().is_empty() => return Ok(Woken::Stopped),
                Ok(0) => return Ok(Woken::Late),
                Ok(_) => return Ok(Woken::Ready),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
