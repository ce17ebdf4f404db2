//! Where everything that happens goes: into the store, and to whoever watches.

use std::sync::{Arc, Mutex};

use metier_store::{EventKind, SessionId, Started, Store, StoreError, Ticket, Timestamp};

use crate::bridge::lock;
use crate::watch::{Happened, Watch};

/// The journal of one session. Its children write into it as well, from their own threads: when they begin and end.
pub(crate) struct Journal {
    store: Store,
    session: SessionId,
    parent: Option<SessionId>,
    watch: Arc<dyn Watch>,
    /// Held while an event is handed in, so that places in the session and what is told have one order.
    pen: Mutex<Pen>,
}

struct Pen {
    seq: u64,
    /// What was handed in and is not known to be written yet.
    tickets: Vec<Ticket>,
}

impl Pen {
    fn at(seq: u64) -> Mutex<Self> {
        Mutex::new(Self { seq, tickets: Vec::new() })
    }

    fn settle(&mut self, watch: &dyn Watch) -> Result<(), StoreError> {
        let mut written = None;
        for ticket in std::mem::take(&mut self.tickets) {
            written = Some(ticket.wait()?.seq);
        }
        if let Some(written) = written {
            watch.settled(written);
        }
        Ok(())
    }
}

impl Journal {
    /// Begins a session.
    pub(crate) fn begin(store: Store, started: Started, watch: Arc<dyn Watch>) -> Result<Self, StoreError> {
        Self::begin_as(SessionId::new()?, store, started, watch)
    }

    /// Begins the session of this id.
    pub(crate) fn begin_as(
        session: SessionId,
        store: Store,
        started: Started,
        watch: Arc<dyn Watch>,
    ) -> Result<Self, StoreError> {
        let appended = store.begin_as(session, started.clone())?;
        let journal = Self { store, session, parent: started.parent, watch, pen: Pen::at(appended.seq) };
        journal.tell(appended.seq, EventKind::Started(started));
        Ok(journal)
    }

    /// Goes on with one.
    pub(crate) fn go_on(
        store: Store,
        session: SessionId,
        parent: Option<SessionId>,
        seq: u64,
        watch: Arc<dyn Watch>,
    ) -> Self {
        Self { store, session, parent, watch, pen: Pen::at(seq) }
    }

    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// The session above, where this one is a child's.
    pub(crate) fn parent(&self) -> Option<SessionId> {
        self.parent
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn watch(&self) -> &Arc<dyn Watch> {
        &self.watch
    }

    /// Writes an event. What announces an effect is on the disk when this returns, and everything before it; the rest is known to be
    /// written at the next [`Journal::settle`].
    pub(crate) fn write(&self, kind: EventKind) -> Result<(), StoreError> {
        let mut pen = lock(&self.pen);
        let ticket = self.store.submit(self.session, kind.clone())?;
        pen.tickets.push(ticket);
        if kind.outlives_power_cuts() {
            pen.settle(&*self.watch)?;
        }
        pen.seq += 1;
        self.tell(pen.seq, kind);
        Ok(())
    }

    /// Is back when everything is written. Nothing is sent to a model before.
    pub(crate) fn settle(&self) -> Result<(), StoreError> {
        lock(&self.pen).settle(&*self.watch)
    }

    /// The place of the last event.
    pub(crate) fn seq(&self) -> u64 {
        lock(&self.pen).seq
    }

    /// Others may have gone on with the session meanwhile.
    pub(crate) fn caught_up(&self, seq: u64) {
        lock(&self.pen).seq = seq;
    }

    fn tell(&self, seq: u64, kind: EventKind) {
        let Self { session, parent, .. } = *self;
        self.watch.event(&Happened { session, parent, seq, at: Timestamp::now(), kind });
    }
}
