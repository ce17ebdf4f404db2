//! Whoever looks on while an agent works.

use metier_runtime::Change;
use metier_store::{EventKind, SessionId, Timestamp};

use crate::limits::Reached;
use crate::talk::Begun;

/// Looks on. Views are made of this and of nothing else. Nothing here may take long: the work waits.
pub trait Watch: Send + Sync {
    /// Something happened, and is in the journal.
    fn event(&self, _event: &Happened) {}

    /// A piece of an answer came. The whole of it follows as an event.
    fn piece(&self, _piece: Piece<'_>) {}

    /// A file would be changed like this: the question follows, if there is one.
    fn change(&self, _change: &Change) {}

    /// Everything up to this event is written: no kill can take it away any more.
    fn settled(&self, _seq: u64) {}

    /// A call was begun when the last process ended, and may have happened. Whoever is there says whether to make it again.
    fn begun(&self, _begun: &Begun) -> Again {
        Again::Nobody
    }

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
    /// A program that runs for a call wrote this, without what nobody may see. A program that writes a lot is shown in part; the
    /// result of the call has what there is.
    Output {
        /// The provider's id of the call.
        call: &'a str,
        /// What it wrote, to either stream.
        text: &'a str,
    },
}

/// Whether to make a call again that may have happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Again {
    /// Yes.
    Yes,
    /// No: the model is told that it may have happened, and goes on.
    No,
    /// Nobody is there to say so.
    #[default]
    Nobody,
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
