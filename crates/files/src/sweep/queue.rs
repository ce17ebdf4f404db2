//! What the workers have in common: a list of jobs, and knowing when all is done.
//!
//! A worker keeps what it finds on a stack of its own, so that the lock is taken a few dozen times in a sweep of
//! 10,000. Only while another worker waits does it hand over a part, which it finds out by reading one number.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub(super) struct Queue<J> {
    state: Mutex<State<J>>,
    bell: Condvar,
    /// Workers that wait and for whom there is no job yet.
    hungry: AtomicUsize,
}

struct State<J> {
    jobs: VecDeque<J>,
    /// Workers that will ask for jobs, started or about to start.
    workers: usize,
    waiting: usize,
    closed: bool,
}

impl<J> Queue<J> {
    /// A queue with these jobs, for one worker.
    pub(super) fn new(jobs: impl IntoIterator<Item = J>) -> Self {
        let state = State { jobs: jobs.into_iter().collect(), workers: 1, waiting: 0, closed: false };
        Self { state: Mutex::new(state), bell: Condvar::new(), hungry: AtomicUsize::new(0) }
    }

    /// Says that more workers will come, before they do: until then nobody may think that all is done.
    pub(super) fn expect(&self, workers: usize) {
        self.lock().workers += workers;
    }

    /// Says that a worker that was expected will not come.
    pub(super) fn excuse(&self) {
        let mut state = self.lock();
        state.workers -= 1;
        if state.waiting == state.workers && state.jobs.is_empty() {
            state.closed = true;
            self.bell.notify_all();
        }
    }

    /// Whether somebody waits for a job.
    pub(super) fn is_hungry(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0
    }

    pub(super) fn push(&self, job: J) {
        let mut state = self.lock();
        state.jobs.push_back(job);
        self.count(&state);
        self.bell.notify_one();
    }

    /// The next job. Waits while others may still find some; `None` when nobody can any more.
    pub(super) fn take(&self) -> Option<J> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                self.count(&state);
                return Some(job);
            }
            state.waiting += 1;
            if state.waiting == state.workers {
                state.closed = true;
                self.bell.notify_all();
                return None;
            }
            self.count(&state);
            state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    /// Ends the work, whatever is left.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.bell.notify_all();
    }

    fn count(&self, state: &State<J>) {
        self.hungry.store(state.waiting.saturating_sub(state.jobs.len()), Ordering::Relaxed);
    }

    /// The state is whole at every moment the lock is free, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Held by a worker while it works: if the visitor panics, the others must not wait for it for ever.
pub(super) struct CloseOnPanic<'q, J>(pub(super) &'q Queue<J>);

impl<J> Drop for CloseOnPanic<'_, J> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
        }
    }
}
