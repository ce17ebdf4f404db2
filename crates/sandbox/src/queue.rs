//! Who runs next: first come, first served.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

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
        let mut state = self.lock();
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

    /// The state is a few numbers that are right after every step, so a panic of another thread leaves it usable.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
        self.0.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn those_who_came_first_run_first_and_never_too_many_at_once() {
        let queue = Queue::new(NonZeroUsize::new(2).unwrap());
        let (running, most, order) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
        let held = [queue.turn(), queue.turn()];
        thread::scope(|scope| {
            for number in 0..20 {
                scope.spawn({
                    let (queue, running, most, order) = (&queue, &running, &most, &order);
                    move || {
                        let _turn = queue.turn();
                        order.lock().unwrap().push(number);
                        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::sleep(Duration::from_millis(1));
                        running.fetch_sub(1, Ordering::SeqCst);
                    }
                });
                // The next one comes once this one is in the queue.
                while queue.lock().waiting.len() <= number {
                    thread::yield_now();
                }
            }
            drop(held);
        });
        assert_eq!(most.into_inner(), 2);
        let order = order.into_inner().unwrap();
        // Two run at once, so neighbours may change places after they were let in; nobody overtakes two.
        assert!(order.iter().enumerate().all(|(at, number)| at.abs_diff(*number) <= 1), "{order:?}");
    }
}
