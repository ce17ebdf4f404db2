//! Stopping an agent from outside: whatever it waits for, it stops waiting.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use metier_sandbox::Cancel;
use tokio::sync::Notify;

use crate::bridge::lock;

/// Stops an agent. A clone stops the same one.
#[derive(Clone, Debug)]
pub struct Halt(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    said: AtomicBool,
    notify: Notify,
    cancel: Cancel,
    /// Those of children, which end with their parent and not the other way round.
    below: Mutex<Vec<Weak<Inner>>>,
}

impl Inner {
    fn halt(&self) {
        self.mark();
        self.wake();
    }

    /// Says it to all, before anybody wakes: else one that is stopped would let another begin that is stopped a moment later.
    fn mark(&self) {
        self.said.store(true, Ordering::SeqCst);
        for child in lock(&self.below).iter().filter_map(Weak::upgrade) {
            child.mark();
        }
    }

    fn wake(&self) {
        self.cancel.cancel();
        // Whoever begins to wait a moment later finds the permit.
        self.notify.notify_one();
        self.notify.notify_waiters();
        // Taken out first: no lock is held while others are told.
        let below = std::mem::take(&mut *lock(&self.below));
        for child in below.iter().filter_map(Weak::upgrade) {
            child.wake();
        }
    }
}

impl Halt {
    /// One that nobody has used yet.
    pub fn new() -> io::Result<Self> {
        let cancel = Cancel::new()?;
        let (said, notify, below) = (AtomicBool::new(false), Notify::new(), Mutex::default());
        Ok(Self(Arc::new(Inner { said, notify, cancel, below })))
    }

    /// One for a child: this one stops it, too.
    pub(crate) fn child(&self) -> io::Result<Self> {
        let child = Self::new()?;
        {
            let mut below = lock(&self.0.below);
            // Those of children that are over would gather in a long conversation.
            below.retain(|known| known.strong_count() > 0);
            below.push(Arc::downgrade(&child.0));
        }
        // Said before the child was known: nobody would tell it.
        if self.is_said() {
            child.halt();
        }
        Ok(child)
    }

    /// Stops it: the answer of the model is dropped, what runs is ended, and what is there is the result.
    pub fn halt(&self) {
        self.0.halt();
    }

    /// Whether it was said.
    pub fn is_said(&self) -> bool {
        self.0.said.load(Ordering::SeqCst)
    }

    /// What ends processes.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.0.cancel
    }

    /// Is over when it was said.
    pub(crate) async fn said(&self) {
        while !self.is_said() {
            self.0.notify.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_stops_its_children_also_those_that_come_later_and_a_child_stops_nobody_above() {
        let parent = Halt::new().unwrap();
        let (one, other) = (parent.child().unwrap(), parent.child().unwrap());
        let grandchild = one.child().unwrap();
        one.halt();
        assert!(one.is_said() && grandchild.is_said());
        assert!(!parent.is_said() && !other.is_said());
        parent.halt();
        assert!(other.is_said());
        assert!(parent.child().unwrap().is_said());
    }
}
