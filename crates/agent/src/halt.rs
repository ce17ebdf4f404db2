//! Stopping an agent from outside: whatever it waits for, it stops waiting.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use metier_sandbox::Cancel;
use tokio::sync::Notify;

/// Stops an agent. A clone stops the same one.
#[derive(Clone, Debug)]
pub struct Halt {
    said: Arc<AtomicBool>,
    notify: Arc<Notify>,
    cancel: Cancel,
}

impl Halt {
    /// One that nobody has used yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self { said: Arc::default(), notify: Arc::default(), cancel: Cancel::new()? })
    }

    /// Stops it: the answer of the model is dropped, what runs is ended, and what is there is the result.
    pub fn halt(&self) {
        self.said.store(true, Ordering::SeqCst);
        self.cancel.cancel();
        // Whoever begins to wait a moment later finds the permit.
        self.notify.notify_one();
        self.notify.notify_waiters();
    }

    /// Whether it was said.
    pub fn is_said(&self) -> bool {
        self.said.load(Ordering::SeqCst)
    }

    /// What ends processes.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Is over when it was said.
    pub(crate) async fn said(&self) {
        while !self.is_said() {
            self.notify.notified().await;
        }
    }
}
