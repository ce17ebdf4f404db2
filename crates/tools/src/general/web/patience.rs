//! How long a request is waited for.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use metier_sandbox::Cancel;
use tokio::time::timeout;

/// How long a wait goes on before it is asked whether anybody still wants it. Nobody notices that a stop took this long.
const LOOK: Duration = Duration::from_millis(50);

/// How long a request is waited for: until a moment, unless somebody takes it back before.
#[derive(Clone, Copy, Debug)]
pub(in crate::general) struct Patience<'a> {
    pub(in crate::general) until: Instant,
    pub(in crate::general) cancel: Option<&'a Cancel>,
}

/// Why a wait ended before there was something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitError {
    Late,
    Stopped,
}

impl Patience<'_> {
    /// Waits for something, for `most` at the longest.
    pub(super) async fn wait<T>(
        &self,
        most: Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, WaitError> {
        let began = Instant::now();
        let mut work = pin!(work);
        loop {
            if self.is_taken_back() {
                return Err(WaitError::Stopped);
            }
            let now = Instant::now();
            let left = self.until.saturating_duration_since(now).min(most.saturating_sub(now - began));
            if left.is_zero() {
                return Err(WaitError::Late);
            }
            if let Ok(done) = timeout(left.min(LOOK), work.as_mut()).await {
                return Ok(done);
            }
        }
    }

    /// Whether somebody has taken it back.
    pub(in crate::general) fn is_taken_back(&self) -> bool {
        self.cancel.is_some_and(Cancel::is_cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    #[test]
    fn a_wait_ends_with_its_time_or_when_it_is_taken_back() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let cancel = Cancel::new().unwrap();
        let wait = |until: Duration, most| {
            let patience = Patience { until: Instant::now() + until, cancel: Some(&cancel) };
            runtime.block_on(patience.wait(most, pending::<()>()))
        };
        let (short, long) = (Duration::from_millis(80), Duration::from_mins(5));
        assert_eq!(wait(short, Duration::MAX), Err(WaitError::Late));
        assert_eq!(wait(long, short), Err(WaitError::Late));
        let patience = Patience { until: Instant::now() + long, cancel: Some(&cancel) };
        assert_eq!(runtime.block_on(patience.wait(long, ready(7))), Ok(7));
        cancel.cancel();
        assert_eq!(wait(long, long), Err(WaitError::Stopped));
    }
}
