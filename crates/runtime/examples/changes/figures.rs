//! Times, medians and limits.

use std::time::{Duration, Instant};

/// How long something took, each time.
#[derive(Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The median, in seconds.
    pub(crate) fn median(&mut self) -> f64 {
        self.0.sort_unstable();
        self.0.get(self.0.len() / 2).map_or(0.0, Duration::as_secs_f64)
    }
}

pub(crate) fn time(what: impl FnOnce()) -> Duration {
    let began = Instant::now();
    what();
    began.elapsed()
}

/// Prints a figure as a ratio to its floor, and whether its limit holds.
pub(crate) fn print_limit(name: &str, seconds: f64, floor: f64, floor_name: &str, limit: Option<f64>) {
    let ratio = seconds / floor;
    let verdict = limit.map_or_else(String::new, |limit| {
        let word = if ratio < limit { "holds" } else { "does not hold" };
        format!("  (limit {limit:.2}: {word})")
    });
    println!("  {name:<46} {:>9.3} ms  {ratio:.2} of {floor_name}{verdict}", seconds * 1e3);
}
