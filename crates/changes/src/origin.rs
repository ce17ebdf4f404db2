//! Which call a layer belongs to.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// What is said of a call in listings. Plain data: nothing is decided by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOrigin {
    /// What ran, in one line.
    pub command: String,
    /// For which actor, such as `skill:user:todo` or `agent`.
    pub actor: String,
    /// The session's id; empty for a call without a session.
    pub session: String,
    /// When it began, in milliseconds since 1970.
    pub began: u64,
}

impl CallOrigin {
    /// A call that begins now.
    pub fn new(command: impl Into<String>, actor: impl Into<String>, session: impl Into<String>) -> Self {
        Self { command: command.into(), actor: actor.into(), session: session.into(), began: unix_millis() }
    }
}

/// Milliseconds since 1970.
pub(crate) fn unix_millis() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
