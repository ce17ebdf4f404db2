//! Cancelling a session from outside, whatever it waits for.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use metier_sandbox::Cancel;
use tokio::sync::Notify;

use crate::lock;

/// Cancels a session. A clone cancels the same one.
#[derive(Clone, Debug)]
pub struct CancelToken(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    is_cancelled: AtomicBool,
    notify: Notify,
    cancel: Cancel,
    /// Those of sub-agents, which end with their parent and not the other way round.
    below: Mutex<Vec<Weak<Inner>>>,
}

impl Inner {
    fn cancel(&self) {
        self.mark();
        self.wake();
    }

    /// Marks all of them before any wakes: else one that ends would let another start that is cancelled a moment later.
    fn mark(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
        for child in lock(&self.below).iter().filter_map(Weak::upgrade) {
            child.mark();
        }
    }

    fn wake(&self) {
        self.cancel.cancel();
        // A waiter that comes a moment later finds the permit.
        self.notify.notify_one();
        self.notify.notify_waiters();
        // Taken out first: no lock is held while others wake.
        let below = std::mem::take(&mut *lock(&self.below));
        for child in below.iter().filter_map(Weak::upgrade) {
            child.wake();
        }
    }
}

impl CancelToken {
    /// A new token.
    pub fn new() -> io::Result<Self> {
        let cancel = Cancel::new()?;
        let (is_cancelled, notify, below) = (AtomicBool::new(false), Notify::new(), Mutex::default());
        Ok(Self(Arc::new(Inner { is_cancelled, notify, cancel, below })))
    }

    /// A token for a sub-agent: this one cancels it, too.
    pub(crate) fn child(&self) -> io::Result<Self> {
        let child = Self::new()?;
        {
            let mut below = lock(&self.0.below);
            // Those of sub-agents that ended would accumulate in a long session.
            below.retain(|known| known.strong_count() > 0);
            below.push(Arc::downgrade(&child.0));
        }
        // Cancelled before the new one was known.
        if self.is_cancelled() {
            child.cancel();
        }
        Ok(child)
    }

    /// Cancels: the model's answer is dropped, processes are ended, and the run ends with what it has.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::SeqCst)
    }

    /// The handle that ends processes.
    pub(crate) fn processes(&self) -> &Cancel {
        &self.0.cancel
    }

    /// Completes when it is cancelled.
    pub(crate) async fn cancelled(&self) {
        while !self.is_cancelled() {
            self.0.notify.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_stops_its_children_also_those_that_come_later_and_a_child_stops_nobody_above() {
        let parent = CancelToken::new().unwrap();
        let (one, other) = (parent.child().unwrap(), parent.child().unwrap());
        let grandchild = one.child().unwrap();
        one.cancel();
        assert!(one.is_cancelled() && grandchild.is_cancelled());
        assert!(!parent.is_cancelled() && !other.is_cancelled());
        parent.cancel();
        assert!(other.is_cancelled());
        assert!(parent.child().unwrap().is_cancelled());
    }
}
