//! What a model does while it answers.

use std::time::Duration;

use crate::{Seal, Usage};

/// What happens while a model answers, in order.
///
/// An answer is any number of `Text`, `Reasoning` and calls, then at most one `Usage`, then one `End`. `Retrying` comes
/// before all others or not at all. Calls may overlap: their pieces are told apart by `index`, which counts from 0 in
/// the order in which they began. Every call that began ends before `End`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A piece of the answer's text.
    Text(String),
    /// A piece of what the model thinks. A signature, and a thought that is hidden, end it.
    Reasoning {
        /// The piece. May be empty when only the seal comes.
        text: String,
        /// What the provider wants back with the thought.
        seal: Seal,
    },
    /// The model begins to call a tool.
    CallBegan {
        /// Which call of this answer.
        index: u32,
        /// What its outcome is matched by; made up if the provider gave none.
        id: String,
        /// The tool. It may be one that does not exist.
        name: String,
        /// What the provider wants back with the call.
        seal: Seal,
    },
    /// A piece of a call's arguments, which together are JSON if the model did well.
    CallArguments {
        /// Which call.
        index: u32,
        /// The piece.
        fragment: String,
    },
    /// A call is whole.
    CallEnded {
        /// Which call.
        index: u32,
    },
    /// What the answer used, as the provider counts it.
    Usage(Usage),
    /// The provider could not, and is asked again. Nothing of an answer had come.
    Retrying {
        /// Which attempt comes next; the first retry is 2.
        attempt: u32,
        /// How long it waits before.
        after: Duration,
        /// What the provider said, or what happened on the way.
        why: String,
    },
    /// The answer is whole.
    End(Stop),
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The model has said what it wanted to say.
    EndOfTurn,
    /// It waits for what comes of its calls.
    ToolCalls,
    /// It was cut at the limit of its output or of its context.
    Length,
    /// It, or a filter behind it, would not answer.
    Refused(String),
    /// A step of the answer failed; its text says which and why. Only the offline planner ends so.
    Failed,
    /// Something else, in the provider's word.
    Other(String),
}
