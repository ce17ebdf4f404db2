//! The event log of one session: every event goes to the store, into the state, and to the observer, in one order.

use std::sync::{Arc, Mutex};

use metier_store::{Event, EventKind, SessionId, Started, Store, StoreError, Ticket, Timestamp};

use crate::lock;
use crate::observer::{EmittedEvent, Observer};
use crate::state::SessionState;

/// The event log of one session, with the state that its events make. Sub-agents append to their parent's log from their own threads:
/// when they start and when they end.
pub(crate) struct SessionLog {
    store: Store,
    session: SessionId,
    parent: Option<SessionId>,
    observer: Arc<dyn Observer>,
    /// Held while an event is appended, so that the store, the state and the observer see one order.
    tail: Mutex<Tail>,
}

struct Tail {
    state: SessionState,
    /// Events that were handed in and are not known to be written yet.
    tickets: Vec<Ticket>,
}

impl Tail {
    fn settle(&mut self, observer: &dyn Observer) -> Result<(), StoreError> {
        let mut written = None;
        for ticket in std::mem::take(&mut self.tickets) {
            written = Some(ticket.wait()?.seq);
        }
        if let Some(written) = written {
            observer.settled(written);
        }
        Ok(())
    }
}

impl SessionLog {
    /// Starts a session.
    pub(crate) fn start(
        session: SessionId,
        store: Store,
        started: Started,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, StoreError> {
        let appended = store.begin_as(session, started.clone())?;
        let log = Self::resume(store, session, started.parent, SessionState::default(), observer);
        log.apply(&mut lock(&log.tail), appended.seq, EventKind::Started(started));
        Ok(log)
    }

    /// Continues a session from this state.
    pub(crate) fn resume(
        store: Store,
        session: SessionId,
        parent: Option<SessionId>,
        state: SessionState,
        observer: Arc<dyn Observer>,
    ) -> Self {
        Self { store, session, parent, observer, tail: Mutex::new(Tail { state, tickets: Vec::new() }) }
    }

    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// The session above, if this one is a sub-agent's.
    pub(crate) fn parent(&self) -> Option<SessionId> {
        self.parent
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn observer(&self) -> &Arc<dyn Observer> {
        &self.observer
    }

    /// Reads the state. The log is locked meanwhile, so `read` must not append.
    pub(crate) fn state<R>(&self, read: impl FnOnce(&SessionState) -> R) -> R {
        read(&lock(&self.tail).state)
    }

    /// Replaces the state: by an empty one while the session rests, by the stored one when it continues.
    pub(crate) fn set_state(&self, state: SessionState) {
        lock(&self.tail).state = state;
    }

    /// Appends an event. An event that announces an effect is on the disk when this returns, with everything before it; the rest is
    /// known to be written at the next [`SessionLog::settle`].
    pub(crate) fn append(&self, kind: EventKind) -> Result<(), StoreError> {
        let mut tail = lock(&self.tail);
        let ticket = self.store.submit(self.session, kind.clone())?;
        tail.tickets.push(ticket);
        if kind.outlives_power_cuts() {
            tail.settle(&*self.observer)?;
        }
        let seq = tail.state.seq + 1;
        self.apply(&mut tail, seq, kind);
        Ok(())
    }

    /// Waits until everything is written. Nothing is sent to a model before.
    pub(crate) fn settle(&self) -> Result<(), StoreError> {
        lock(&self.tail).settle(&*self.observer)
    }

    fn apply(&self, tail: &mut Tail, seq: u64, kind: EventKind) {
        let Self { session, parent, .. } = *self;
        let at = Timestamp::now();
        let event = Event { position: seq, session, seq, at, kind };
        tail.state.apply(&event);
        self.observer.event(&EmittedEvent { session, parent, seq, at, kind: event.kind });
    }
}
