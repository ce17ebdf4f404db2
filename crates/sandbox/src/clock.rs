//! A call's clock, which can stand still.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::lock::lock;

/// The clock of a call, which stands still while somebody is asked something on its behalf: the time that a person takes
/// to answer is not the script's. Copies are the same clock.
///
/// Only the limit on time stands still with it. The script itself goes on, so what it uses up meanwhile counts: processor
/// time, memory, output.
#[derive(Clone, Debug, Default)]
pub struct Clock(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// How many hold it, and since when the first of them does.
    held: usize,
    since: Option<Instant>,
    /// How long it stood still before.
    before: Duration,
}

/// The clock stands still as long as this is there.
#[derive(Debug)]
#[must_use = "the clock goes on when this is dropped"]
pub struct Pause(Clock);

impl Clock {
    /// One that goes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has it stand still until the pause is dropped. Of several pauses at once the last one ends it; the time counts once.
    pub fn pause(&self) -> Pause {
        let mut state = lock(&self.0);
        state.held += 1;
        state.since.get_or_insert_with(Instant::now);
        drop(state);
        Pause(self.clone())
    }

    /// Whether it stands still now.
    pub fn is_paused(&self) -> bool {
        lock(&self.0).since.is_some()
    }

    /// How long it has stood still, up to now.
    pub fn stood_still(&self) -> Duration {
        let state = lock(&self.0);
        state.before + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let mut state = lock(&self.0.0);
        state.held = state.held.saturating_sub(1);
        if state.held == 0
            && let Some(since) = state.since.take()
        {
            state.before += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A_BIT: Duration = Duration::from_millis(20);

    #[test]
    fn pauses_at_the_same_time_count_once_and_the_last_one_ends_it() {
        let clock = Clock::new();
        let began = Instant::now();
        let (one, two) = (clock.pause(), clock.clone().pause());
        std::thread::sleep(A_BIT);
        drop(one);
        assert!(clock.is_paused());
        std::thread::sleep(A_BIT);
        drop(two);
        let stood = clock.stood_still();
        assert!(!clock.is_paused() && stood >= 2 * A_BIT && stood <= began.elapsed(), "{stood:?}");
        std::thread::sleep(A_BIT);
        assert_eq!(clock.stood_still(), stood);
        drop(clock.pause());
        assert!(clock.stood_still() >= stood);
    }

    #[test]
    fn a_pause_that_is_going_on_counts_already() {
        let clock = Clock::new();
        let _pause = clock.pause();
        std::thread::sleep(A_BIT);
        assert!(clock.stood_still() >= A_BIT);
    }
}
