//! The proxy of one call.

use std::io;
use std::net::{Shutdown, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use crate::connection::serve;
use crate::event::{Event, Trouble};
use crate::outside::Outside;
use crate::questions::Questions;
use crate::roster::Roster;
use crate::stop::{Stop, Woken};
use crate::warden::Warden;

/// The stack of a thread. The system's resolver puts large buffers there; beyond that nothing here does.
const STACK: usize = 512 * 1024;

/// How long to wait before trying again when a connection cannot be accepted, which is so when files run out.
const RETRY: Duration = Duration::from_millis(20);

/// How much one proxy takes, and how long it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once; the rest wait in the listener's queue. A script that needs more does not need this machine's
    /// last file handle.
    pub connections: usize,
    /// How long a program may take to say what it wants.
    pub head: Duration,
    /// How long connecting may take, over all addresses of a name.
    pub connect: Duration,
    /// How long a connection may be quiet. Slow answers of models and long polls stay below it.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            head: Duration::from_secs(30),
            connect: Duration::from_secs(20),
            idle: Duration::from_mins(10),
        }
    }
}

type Observer = Box<dyn Fn(&Event) + Send + Sync>;

/// What all threads of one proxy know.
pub(crate) struct Shared {
    pub(crate) warden: Arc<dyn Warden>,
    pub(crate) outside: Arc<dyn Outside>,
    pub(crate) limits: Limits,
    pub(crate) questions: Questions,
    pub(crate) stop: Stop,
    roster: Arc<Roster>,
    observer: Observer,
}

impl Shared {
    pub(crate) fn tell(&self, event: &Event) {
        (self.observer)(event);
    }
}

/// The way out of one call. It serves from [`Proxy::start`] until it is dropped, which cuts every connection.
///
/// Dropping waits for the threads that carry bytes and not for what cannot be interrupted: a resolver, a connection being
/// made, a question to a person. Their programs are cut at once all the same, and what comes of them is thrown away.
/// It must not be dropped by its own warden or observer, which would be waiting for themselves.
#[must_use = "a proxy serves until it is dropped"]
pub struct Proxy {
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Serves whoever connects to the listener. Who that can be is for the listener's owner to bound: there is no password.
    ///
    /// The observer hears every event on the thread where it happens, so it should be quick.
    pub fn start(
        listener: TcpListener,
        warden: Arc<dyn Warden>,
        outside: Arc<dyn Outside>,
        limits: Limits,
        observer: impl Fn(&Event) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        // A connection that is gone again before it is accepted must not leave the thread waiting for the next one.
        listener.set_nonblocking(true)?;
        let shared = Arc::new(Shared {
            warden,
            outside,
            limits,
            questions: Questions::default(),
            stop: Stop::new()?,
            roster: Arc::new(Roster::new(limits.connections.max(1))),
            observer: Box::new(observer),
        });
        let accepting = Arc::clone(&shared);
        let accepting = named("proxy-accept").spawn(move || accept(&accepting, &listener))?;
        Ok(Self { shared, accepting: Some(accepting) })
    }
}

fn named(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK)
}

fn accept(shared: &Arc<Shared>, listener: &TcpListener) {
    let mut number = 0;
    while let Some(seat) = shared.roster.enter() {
        let stream = loop {
            match listener.accept() {
                Ok((stream, _)) => break stream,
                Err(error) => {
                    let waits = error.kind() == io::ErrorKind::WouldBlock;
                    let woken = if waits {
                        shared.stop.wait(&[(listener, PollFlags::IN)], None)
                    } else {
                        // Waiting for the listener would end at once, again and again.
                        shared.stop.wait::<TcpListener>(&[], Some(Instant::now() + RETRY))
                    };
                    if !matches!(woken, Ok(Woken::Ready | Woken::Late)) {
                        return;
                    }
                }
            }
        };
        number += 1;
        let serving = Arc::clone(shared);
        let spawned = named("proxy-serve").spawn(move || {
            serve(&serving, seat, number, stream);
        });
        // Without a thread the connection is closed with the closure, and whoever comes next may be luckier.
        if spawned.is_err()
            && !matches!(shared.stop.wait::<TcpListener>(&[], Some(Instant::now() + RETRY)), Ok(Woken::Late))
        {
            return;
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let shared = &self.shared;
        shared.stop.pull();
        if shared.questions.close() {
            shared.warden.withdraw();
        }
        for away in shared.roster.close() {
            let _ = away.client.shutdown(Shutdown::Both);
            shared.tell(&Event::Failed { contact: away.contact, trouble: Trouble::Stopped });
        }
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        shared.roster.wait_until_empty();
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("limits", &self.shared.limits).finish_non_exhaustive()
    }
}
