//! Carrying bytes both ways.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use crate::event::{Ending, Refusal};
use crate::pipe::Pipe;
use crate::sieve::Sieve;
use crate::stop::{Stop, Woken};

/// How much is carried at a time. 512 connections have one each.
const MAX_CHUNK: usize = 64 * 1024;

/// After how many bytes a direction gets a pipe to carry without copying. Most connections never come so far, and each
/// pipe takes two file handles.
const LARGE: u64 = 1024 * 1024;

/// How often one direction goes on before the other gets its turn.
const TURNS: usize = 16;

/// One direction.
pub(crate) struct Flow {
    sieve: Sieve,
    /// What has passed the sieve and waits for the other side to take it.
    waiting: Vec<u8>,
    /// How much of that is gone.
    gone: usize,
    carried: u64,
    state: State,
    way: Way,
}

/// How bytes that nobody looks at are carried.
enum Way {
    /// By copying them.
    Copy,
    /// Through a pipe.
    Pipe(Pipe),
    /// By copying them, since there is no pipe to be had.
    OnlyCopy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Bytes come.
    Open,
    /// No more bytes come; what waits still has to go.
    Ending,
    /// The other side knows that no more come.
    Ended,
}

impl Flow {
    /// A direction that begins with bytes that are not to be looked at.
    pub(crate) fn new(sieve: Sieve, first: Vec<u8>) -> Self {
        Self { sieve, waiting: first, gone: 0, carried: 0, state: State::Open, way: Way::Copy }
    }

    /// Puts in bytes that have arrived before.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        self.sieve.take(bytes, &mut self.waiting)
    }

    pub(crate) fn carried(&self) -> u64 {
        self.carried
    }

    fn is_waiting(&self) -> bool {
        self.gone < self.waiting.len() || matches!(&self.way, Way::Pipe(pipe) if pipe.holds())
    }

    /// The pipe, where one is worth it and nothing has to be looked at.
    fn pipe(&mut self) -> Option<&mut Pipe> {
        if matches!(self.way, Way::Copy) && self.carried >= LARGE && self.sieve.is_open() {
            self.way = Pipe::new().map_or(Way::OnlyCopy, Way::Pipe);
        }
        match &mut self.way {
            Way::Pipe(pipe) => Some(pipe),
            Way::Copy | Way::OnlyCopy => None,
        }
    }

    /// What is wanted of the side that bytes come from, and of the one they go to.
    fn wanted(&self) -> (PollFlags, PollFlags) {
        if self.is_waiting() {
            (PollFlags::empty(), PollFlags::OUT)
        } else if self.state == State::Open {
            (PollFlags::IN, PollFlags::empty())
        } else {
            (PollFlags::empty(), PollFlags::empty())
        }
    }

    /// Carries what can be carried without waiting, and tells whether anything was.
    fn carry(&mut self, from: &TcpStream, to: &TcpStream, piece: &mut [u8]) -> Result<bool, Cut> {
        let mut has_moved = false;
        for _ in 0..TURNS {
            if self.is_waiting() {
                match self.flush(to) {
                    0 => break,
                    _ => has_moved = true,
                }
            } else if self.state == State::Open {
                let (read, is_piped) = match self.pipe() {
                    Some(pipe) => (pipe.fill(from), true),
                    None => ((&mut &*from).read(piece), false),
                };
                match unblocked(read) {
                    Ok(None) => break,
                    Ok(Some(0)) => {
                        self.state = State::Ending;
                        self.sieve.finish(&mut self.waiting);
                    }
                    // It goes on from there.
                    Ok(Some(_)) if is_piped => {}
                    Ok(Some(length)) => self.pass(&piece[..length], to)?,
                    Err(_) => return Err(Cut::Broken),
                }
                has_moved = true;
            } else {
                break;
            }
        }
        if self.state == State::Ending && !self.is_waiting() {
            self.state = State::Ended;
            // The other side may go on speaking: only this direction is over.
            let _ = to.shutdown(Shutdown::Write);
        }
        Ok(has_moved)
    }

    fn pass(&mut self, bytes: &[u8], to: &TcpStream) -> Result<(), Cut> {
        if !self.sieve.is_open() {
            return self.sieve.take(bytes, &mut self.waiting).map_err(Cut::Refused);
        }
        // Straight on, without a copy, as far as the other side takes it.
        match unblocked((&mut &*to).write(bytes)) {
            Ok(sent) => {
                let sent = sent.unwrap_or(0);
                self.carried += sent as u64;
                self.waiting.extend_from_slice(&bytes[sent..]);
            }
            Err(_) => self.give_up(),
        }
        Ok(())
    }

    fn flush(&mut self, to: &TcpStream) -> usize {
        // What waits here came before what is in the pipe.
        let is_here = self.gone < self.waiting.len();
        let written = match &mut self.way {
            Way::Pipe(pipe) if !is_here => pipe.drain(to),
            _ => (&mut &*to).write(&self.waiting[self.gone..]),
        };
        let Ok(sent) = unblocked(written) else {
            self.give_up();
            return 0;
        };
        let sent = sent.unwrap_or(0);
        self.carried += sent as u64;
        if is_here {
            self.gone += sent;
            if self.gone == self.waiting.len() {
                self.waiting.clear();
                self.gone = 0;
            }
        }
        sent
    }

    /// The other side takes no more. It may have said something before, so the other direction goes on.
    fn give_up(&mut self) {
        self.waiting = Vec::new();
        self.gone = 0;
        self.way = Way::OnlyCopy;
        self.state = State::Ended;
    }
}

/// `None` where a socket has nothing or takes nothing just now.
fn unblocked(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(length) => Ok(Some(length)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why a tunnel ends before both sides are done.
pub(crate) enum Cut {
    /// One side broke off.
    Broken,
    /// Something went through that was not allowed.
    Refused(Refusal),
}

/// When a tunnel is over by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// When both sides are done.
    Both,
    /// When the answer is there: what the program says after it is for nobody.
    Answer,
}

/// Carries bytes both ways until it is over.
pub(crate) fn carry(
    stop: &Stop,
    (client, up): (&TcpStream, &mut Flow),
    (server, down): (&TcpStream, &mut Flow),
    over: Until,
    idle: Duration,
) -> Result<Ending, Refusal> {
    let mut piece = vec![0; MAX_CHUNK];
    let mut quiet_since = Instant::now();
    loop {
        let moved = up
            .carry(client, server, &mut piece)
            .and_then(|moved| Ok(moved | down.carry(server, client, &mut piece)?));
        let has_moved = match moved {
            Ok(has_moved) => has_moved,
            Err(Cut::Broken) => return Ok(Ending::Broken),
            Err(Cut::Refused(refusal)) => return Err(refusal),
        };
        if down.state == State::Ended && (over == Until::Answer || up.state == State::Ended) {
            return Ok(Ending::Closed);
        }
        if has_moved {
            quiet_since = Instant::now();
        }
        let ((from_client, to_server), (from_server, to_client)) = (up.wanted(), down.wanted());
        let wanted = [(client, from_client | to_client), (server, from_server | to_server)];
        match stop.wait(&wanted, Some(quiet_since + idle)) {
            Ok(Woken::Ready) => {}
            Ok(Woken::Late) => return Ok(Ending::Idle),
            Ok(Woken::Stopped) => return Ok(Ending::Stopped),
            Err(_) => return Ok(Ending::Broken),
        }
    }
}
