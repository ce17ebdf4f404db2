//! Observers of a session.

use metier_store::{EventKind, RetryDecision, SessionId, Timestamp};

use crate::limits::LimitHit;
use crate::session::UncertainCall;

/// Observes a session, and answers its questions about limits and interrupted calls. Views are made of this and of nothing else.
/// Methods must return soon: the work waits.
pub trait Observer: Send + Sync {
    /// An event was stored.
    fn event(&self, _event: &EmittedEvent) {}

    /// A piece of an answer or of a program's output. The whole follows as an event.
    fn delta(&self, _delta: StreamDelta<'_>) {}

    /// Everything up to this event is on the disk.
    fn settled(&self, _seq: u64) {}

    /// A call was interrupted and may have run. Decides whether it runs again.
    fn uncertain_call(&self, _call: &UncertainCall) -> RetryDecision {
        RetryDecision::Unanswered
    }

    /// A limit was reached. Decides whether the run continues, with as much again.
    fn limit_hit(&self, _hit: &LimitHit) -> OnLimit {
        OnLimit::Stop
    }
}

/// An event of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct EmittedEvent {
    /// The session.
    pub session: SessionId,
    /// The session above, if this one is a sub-agent's.
    pub parent: Option<SessionId>,
    /// Its place in the session.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub kind: EventKind,
}

/// A piece of text while it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamDelta<'a> {
    /// Text for the user.
    Text(&'a str),
    /// What the model thinks, as far as it shows it.
    Thought(&'a str),
    /// The model begins to call this tool.
    Call(&'a str),
    /// A program that runs for a call wrote this, redacted. A program that writes a lot is shown in part; the call's result has the
    /// rest.
    Output {
        /// The provider's id of the call.
        call: &'a str,
        /// What it wrote, to either stream.
        text: &'a str,
    },
}

/// Whether a run continues over a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLimit {
    /// It ends.
    #[default]
    Stop,
    /// It continues, with as much again.
    Extend,
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}
