//! How long a request is waited for.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use metier_sandbox::Cancel;

/// How long a wait goes on before it is asked whether anybody still wants it. Nobody notices that a stop took this long.
const LOOK: Duration = Duration::from_millis(50);

/// How long a request is waited for: until a moment, unless somebody takes it back before.
#[derive(Clone, Copy, Debug)]
pub(in crate::general) struct Patience<'a> {
    pub(in crate::general) until: Instant,
    pub(in crate::general) cancel: Option<&'a Cancel>,
}

impl Patience<'_> {
    /// How long can be waited until it has to be asked again; an error where it is over. A wait of `most` at the longest.
    pub(super) fn next(&self, most: Duration) -> io::Result<Duration> {
        if self.is_taken_back() {
            // Not `Interrupted`: whoever reads or writes tries that again.
            return Err(io::Error::other("it was stopped"));
        }
        let left = self.until.saturating_duration_since(Instant::now()).min(most);
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left.min(LOOK)) }
    }

    /// Whether somebody has taken it back.
    pub(in crate::general) fn is_taken_back(&self) -> bool {
        self.cancel.is_some_and(Cancel::is_cancelled)
    }

    /// Does something that cannot be interrupted, beside: the system's resolver knows no time, and connecting knows only that. What
    /// never ends keeps a thread and nothing else.
    pub(super) fn beside<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let (sender, receiver) = mpsc::channel();
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            // Nobody listens any more once it was given up.
            let _ = sender.send(work());
        })?;
        loop {
            match receiver.recv_timeout(self.next(Duration::MAX)?) {
                Ok(done) => return done,
                Err(RecvTimeoutError::Timeout) => {}
                // The work broke down, which is ours to mend and nobody's to wait for.
                Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_with_its_time_or_when_it_is_taken_back() {
        let cancel = Cancel::new().unwrap();
        let soon = Patience { until: Instant::now() + Duration::from_millis(80), cancel: Some(&cancel) };
        let (keep, kept) = mpsc::channel::<()>();
        let never = soon.beside("test", move || kept.recv().map_err(io::Error::other));
        assert_eq!(never.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(keep);
        let long = Patience { until: Instant::now() + Duration::from_mins(5), cancel: Some(&cancel) };
        assert_eq!(long.beside("test", || Ok(7)).unwrap(), 7);
        assert_eq!(long.next(Duration::from_millis(3)).unwrap(), Duration::from_millis(3));
        cancel.cancel();
        assert_eq!(long.beside("test", || Ok(7)).unwrap_err().to_string(), "it was stopped");
    }
}
