//! Who runs next: first come, first served.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::lock::lock;

/// Lets a number of calls run at once; the others wait in the order in which they came.
#[derive(Debug)]
pub(crate) struct Queue {
    at_once: usize,
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    next: u64,
    waiting: VecDeque<u64>,
}

/// The right to run, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a>(&'a Queue);

impl Queue {
    pub(crate) fn new(at_once: NonZeroUsize) -> Self {
        Self { at_once: at_once.get(), state: Mutex::default(), moved: Condvar::new() }
    }

    /// Waits for its turn.
    pub(crate) fn turn(&self) -> Turn<'_> {
        let mut state = lock(&self.state);
        let number = state.next;
        state.next += 1;
        state.waiting.push_back(number);
        while state.waiting.front() != Some(&number) || state.running == self.at_once {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.pop_front();
        state.running += 1;
        drop(state);
        // There may be room for the one behind, too.
        self.moved.notify_all();
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).running -= 1;
        self.0.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    /// Lets twenty through, one after the other in the queue; gives in which order they ran and how many ran at once.
    fn through(queue: &Queue, held: Vec<Turn<'_>>) -> (Vec<usize>, usize) {
        let (running, most, order) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for number in 0..20 {
                scope.spawn({
                    let (running, most, order) = (&running, &most, &order);
                    move || {
                        let _turn = queue.turn();
                        order.lock().unwrap().push(number);
                        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::sleep(Duration::from_millis(1));
                        running.fetch_sub(1, Ordering::SeqCst);
                    }
                });
                // The next one comes once this one is in the queue.
                while lock(&queue.state).waiting.len() <= number {
                    thread::yield_now();
                }
            }
            drop(held);
        });
        (order.into_inner().unwrap(), most.into_inner())
    }

    #[test]
    fn those_who_came_first_run_first() {
        // Of several that were let in at once any may be the first to write its number down.
        let queue = Queue::new(NonZeroUsize::MIN);
        let held = vec![queue.turn()];
        assert_eq!(through(&queue, held), ((0..20).collect(), 1));
    }

    #[test]
    fn never_too_many_run_at_once() {
        let queue = Queue::new(NonZeroUsize::new(2).unwrap());
        let held = vec![queue.turn(), queue.turn()];
        let (order, most) = through(&queue, held);
        assert_eq!(order.len(), 20);
        assert!(most <= 2, "{most}");
    }
}
