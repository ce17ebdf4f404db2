//! Who of a budget may work: two at once, the others in the order in which they came.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use crate::cancel::CancelToken;
use crate::lock;

/// How many children of a budget work at once. Each of them is a conversation with a model and may have processes; more would be
/// more cost and load than a person can follow.
const MAX_AT_ONCE: usize = 2;

/// The queue of a budget.
#[derive(Debug)]
pub(crate) struct WorkQueue(Mutex<State>);

#[derive(Debug)]
struct State {
    free: usize,
    /// Those that had a slot and lent it while they waited for children of their own. They come first: their work is begun.
    returning: VecDeque<oneshot::Sender<()>>,
    waiting: VecDeque<oneshot::Sender<()>>,
}

/// A position in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Behind all others.
    Last,
    /// Before those that have not begun.
    Returning,
}

/// A place in the queue. Dropping it leaves the queue.
#[derive(Debug)]
pub(crate) struct Ticket {
    queue: Arc<WorkQueue>,
    granted: Option<oneshot::Receiver<()>>,
}

/// The right to work. Dropping it lets the next one.
#[derive(Debug)]
pub(crate) struct Slot(Arc<WorkQueue>);

impl Default for WorkQueue {
    fn default() -> Self {
        Self(Mutex::new(State { free: MAX_AT_ONCE, returning: VecDeque::new(), waiting: VecDeque::new() }))
    }
}

impl WorkQueue {
    /// Takes a place. The order of these calls is the order of the queue.
    pub(crate) fn join(self: &Arc<Self>, place: Place) -> Ticket {
        let (grant, granted) = oneshot::channel();
        let mut state = lock(&self.0);
        match place {
            Place::Last => state.waiting.push_back(grant),
            Place::Returning => state.returning.push_back(grant),
        }
        state.grant();
        Ticket { queue: Arc::clone(self), granted: Some(granted) }
    }

    fn release(&self) {
        let mut state = lock(&self.0);
        state.free += 1;
        state.grant();
    }
}

impl State {
    /// Gives free slots to those who come next. Whoever has left is passed over.
    fn grant(&mut self) {
        while self.free > 0 {
            let Some(next) = self.returning.pop_front().or_else(|| self.waiting.pop_front()) else { return };
            if next.send(()).is_ok() {
                self.free -= 1;
            }
        }
    }
}

impl Ticket {
    /// Is over with a slot, or without one when it was stopped first.
    pub(crate) async fn wait(mut self, cancel: &CancelToken) -> Option<Slot> {
        let granted = self.granted.as_mut()?;
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            is_granted = granted => {
                self.granted = None;
                let slot = is_granted.ok().map(|()| Slot(Arc::clone(&self.queue)))?;
                // Whoever gave the place may have been stopped, and this one with it.
                (!cancel.is_cancelled()).then_some(slot)
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let Some(mut granted) = self.granted.take() else { return };
        // Nothing can be granted from here on; what was granted a moment ago is for the next one.
        granted.close();
        if granted.try_recv().is_ok() {
            self.queue.release();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_slot(ticket: &mut Ticket) -> bool {
        ticket.granted.as_mut().is_some_and(|granted| !granted.is_empty())
    }

    fn taken(ticket: Ticket) -> Slot {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(ticket.wait(&CancelToken::new().unwrap())).unwrap()
    }

    #[test]
    fn two_at_once_and_the_rest_in_their_order_those_who_had_begun_first() {
        let queue = Arc::new(WorkQueue::default());
        let [a, b, mut c, mut d] = [(); 4].map(|()| queue.join(Place::Last));
        let (a, b) = (taken(a), taken(b));
        assert!(!has_slot(&mut c) && !has_slot(&mut d));
        drop(a);
        assert!(has_slot(&mut c) && !has_slot(&mut d));
        let mut back = queue.join(Place::Returning);
        drop(b);
        assert!(has_slot(&mut back) && !has_slot(&mut d), "who had begun comes before who has not");
    }

    #[test]
    fn who_leaves_the_queue_is_passed_over_and_a_slot_that_nobody_took_goes_on() {
        let queue = Arc::new(WorkQueue::default());
        let [first, second, third, fourth, mut last] = [(); 5].map(|()| queue.join(Place::Last));
        let first = taken(first);
        drop(third);
        // It had a slot that it never took.
        drop(second);
        assert!(!has_slot(&mut last));
        let fourth = taken(fourth);
        assert!(!has_slot(&mut last));
        drop((first, fourth));
        assert!(has_slot(&mut last));
        drop(last);
        assert_eq!(lock(&queue.0).free, MAX_AT_ONCE);
    }

    #[test]
    fn who_is_stopped_gets_no_slot_and_takes_none_away() {
        let queue = Arc::new(WorkQueue::default());
        let cancel = CancelToken::new().unwrap();
        cancel.cancel();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(runtime.block_on(queue.join(Place::Last).wait(&cancel)).is_none());
        assert_eq!(lock(&queue.0).free, MAX_AT_ONCE);
    }
}
