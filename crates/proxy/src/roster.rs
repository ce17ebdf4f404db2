//! Who is connected.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::warden::Contact;

/// Counts the connections and knows which of them cannot be called back.
///
/// A thread that waits for a socket hears the [`crate::stop::Stop`]. One that waits for a resolver, a connection or a
/// person does not; it is *away*. When the proxy ends, those that are here are waited for, and those that are away are
/// struck off: their clients are cut at once, and when they come back they find no place and end without a word.
pub(crate) struct Roster {
    state: Mutex<State>,
    changed: Condvar,
    most: usize,
}

#[derive(Default)]
struct State {
    here: usize,
    away: BTreeMap<u64, Away>,
    is_closed: bool,
}

/// Somebody who waits for something that cannot be interrupted.
pub(crate) struct Away {
    pub(crate) contact: Contact,
    pub(crate) client: Arc<TcpStream>,
}

impl Roster {
    pub(crate) fn new(most: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), most }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for one more; `None` when there will be no more.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Seat> {
        let mut state = self.state();
        while !state.is_closed && state.here + state.away.len() >= self.most {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_closed {
            return None;
        }
        state.here += 1;
        drop(state);
        Some(Seat { roster: Arc::clone(self), place: Place::Here })
    }

    /// Lets nobody in any more and strikes off those who are away.
    pub(crate) fn close(&self) -> Vec<Away> {
        let mut state = self.state();
        state.is_closed = true;
        self.changed.notify_all();
        std::mem::take(&mut state.away).into_values().collect()
    }

    /// Waits until nobody is here.
    pub(crate) fn wait_until_empty(&self) {
        let mut state = self.state();
        while state.here > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// One place; it is free again when this goes out of scope.
pub(crate) struct Seat {
    roster: Arc<Roster>,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Where the end is heard.
    Here,
    /// Where it is not, under this number.
    Away(u64),
    /// Nowhere: struck off.
    Gone,
}

impl Seat {
    /// Goes where nobody can be called back from; `false` when everything ends.
    pub(crate) fn leave(&mut self, contact: &Contact, client: &Arc<TcpStream>) -> bool {
        let mut state = self.roster.state();
        if state.is_closed {
            return false;
        }
        state.here -= 1;
        state.away.insert(contact.number, Away { contact: contact.clone(), client: Arc::clone(client) });
        self.place = Place::Away(contact.number);
        true
    }

    /// Comes back; `false` when it was struck off meanwhile.
    pub(crate) fn come_back(&mut self) -> bool {
        let mut state = self.roster.state();
        let Place::Away(number) = self.place else { return self.place == Place::Here };
        let is_known = state.away.remove(&number).is_some();
        state.here += usize::from(is_known);
        self.place = if is_known { Place::Here } else { Place::Gone };
        is_known
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.roster.state();
        match self.place {
            Place::Here => state.here -= 1,
            // A warden or a resolver that panicked never lets anybody come back; the client is closed with the entry.
            Place::Away(number) => drop(state.away.remove(&number)),
            Place::Gone => {}
        }
        self.roster.changed.notify_all();
    }
}
