//! What became of an attack.

use std::io;

/// What became of an attack: how it got through, or why not.
pub(crate) type Answer = Result<String, Stop>;

/// Why an attack did not get through.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something stopped it.
    Held(String),
    /// What it needs is not there, so it shows nothing.
    CannotSay(String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Held(error.to_string())
    }
}

/// The attack was stopped, for this reason.
pub(crate) fn held(reason: impl Into<String>) -> Answer {
    Err(Stop::Held(reason.into()))
}

/// The attack shows nothing, for this reason.
pub(crate) fn cannot_say(reason: impl Into<String>) -> Answer {
    Err(Stop::CannotSay(reason.into()))
}

/// Steps of an attack that can fail.
pub(crate) trait Step<T> {
    /// This step prepares the attack: when it fails, nothing is shown.
    fn prepare(self, what: &str) -> Result<T, Stop>;
    /// This step is the attack: when it fails, it was held.
    fn attempt(self, what: &str) -> Result<T, Stop>;
}

impl<T> Step<T> for io::Result<T> {
    fn prepare(self, what: &str) -> Result<T, Stop> {
        self.map_err(|error| Stop::CannotSay(format!("{what}: {error}")))
    }

    fn attempt(self, what: &str) -> Result<T, Stop> {
        self.map_err(|error| Stop::Held(format!("{what}: {error}")))
    }
}

/// Judges a call whose arguments are wrong on purpose: only a refusal counts as held. Any other error means that the
/// kernel looked at the arguments, so right ones would have worked.
pub(crate) fn gated(what: &str, result: io::Result<usize>) -> Answer {
    match result {
        Ok(value) => Ok(format!("{what} gave {value}")),
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(libc::EPERM | libc::EACCES | libc::ENOSYS | libc::EROFS)
            ) =>
        {
            held(format!("{what}: {error}"))
        }
        Err(error) => Ok(format!("{what} reached the kernel: {error}")),
    }
}
