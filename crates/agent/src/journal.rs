//! Where everything that happens goes: into the store, and to whoever watches.

use std::sync::{Arc, Mutex, PoisonError};

use metier_store::{EventKind, SessionId, Started, Store, StoreError, Ticket, Timestamp};

use crate::watch::{Happened, Watch};

/// The journal of one session.
pub(crate) struct Journal {
    store: Store,
    session: SessionId,
    watch: Arc<dyn Watch>,
    seq: u64,
    /// The place of the last one that is known to be written.
    written: u64,
    /// What was handed in and is not known to be written yet. A ticket belongs to one thread; the lock lets others look at the
    /// rest of a conversation while nobody waits.
    tickets: Mutex<Vec<Ticket>>,
}

impl Journal {
    /// Begins a session.
    pub(crate) fn begin(store: Store, started: Started, watch: Arc<dyn Watch>) -> Result<Self, StoreError> {
        let session = SessionId::new()?;
        let appended = store.begin_as(session, started.clone())?;
        let seq = appended.seq;
        let journal = Self { store, session, watch, seq, written: seq, tickets: Mutex::default() };
        journal.tell(EventKind::Started(started));
        Ok(journal)
    }

    /// Goes on with one.
    pub(crate) fn go_on(store: Store, session: SessionId, seq: u64, watch: Arc<dyn Watch>) -> Self {
        Self { store, session, watch, seq, written: seq, tickets: Mutex::default() }
    }

    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn watch(&self) -> &Arc<dyn Watch> {
        &self.watch
    }

    /// Writes an event. What announces an effect is on the disk when this returns, and everything before it; the rest is known to be
    /// written at the next [`Journal::settle`].
    pub(crate) fn write(&mut self, kind: EventKind) -> Result<(), StoreError> {
        let ticket = self.store.submit(self.session, kind.clone())?;
        self.waiting().push(ticket);
        if kind.outlives_power_cuts() {
            self.settle()?;
        }
        self.seq += 1;
        self.tell(kind);
        Ok(())
    }

    /// Is back when everything is written. Nothing is sent to a model before.
    pub(crate) fn settle(&mut self) -> Result<(), StoreError> {
        let tickets = std::mem::take(self.waiting());
        if tickets.is_empty() {
            return Ok(());
        }
        for ticket in tickets {
            self.written = ticket.wait()?.seq;
        }
        self.watch.settled(self.written);
        Ok(())
    }

    /// The place of the last event.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// Others may have gone on with the session meanwhile.
    pub(crate) fn caught_up(&mut self, seq: u64) {
        self.seq = seq;
    }

    fn waiting(&mut self) -> &mut Vec<Ticket> {
        self.tickets.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, kind: EventKind) {
        self.watch.event(&Happened { session: self.session, seq: self.seq, at: Timestamp::now(), kind });
    }
}
