//! Whoever looks on while an agent works.

use std::time::Duration;

use metier_runtime::Change;
use metier_store::{EventKind, SessionId, Timestamp};

use crate::limits::Reached;

/// Looks on. Views are made of this and of nothing else. Nothing here may take long: the work waits.
pub trait Watch: Send + Sync {
    /// Something happened, and is in the journal.
    fn event(&self, _event: &Happened) {}

    /// A piece of an answer came. The whole of it follows as an event.
    fn piece(&self, _piece: Piece<'_>) {}

    /// A file would be changed like this: the question follows, if there is one.
    fn change(&self, _change: &Change) {}

    /// A limit was reached. Whoever is there may say to go on, with as much again.
    fn reached(&self, _reached: &Reached) -> Further {
        Further::Stop
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Happened {
    /// In which session.
    pub session: SessionId,
    /// The session above it, where it is a child.
    pub parent: Option<SessionId>,
    /// Its place there.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: EventKind,
}

/// A piece of an answer while it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Words for the user.
    Text(&'a str),
    /// What the model thinks, as far as it lets others see it.
    Thought(&'a str),
    /// It begins to call this tool.
    Call(&'a str),
    /// The provider could not, and is asked again.
    Waiting {
        /// After so long.
        after: Duration,
        /// What it said.
        why: &'a str,
    },
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Further {
    /// No.
    #[default]
    Stop,
    /// Yes.
    GoOn,
}

/// Nobody looks on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}
