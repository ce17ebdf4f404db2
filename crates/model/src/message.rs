//! One message of a conversation, in the words of no provider.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Arguments, Protocol};

/// One message. A [`Request`](crate::Request) holds it behind an [`Arc`], so a long history costs a turn no copies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// What a person, or a program in a person's place, says.
    User(Vec<Part>),
    /// What the model said, as it came; see [`Answered::message`](crate::Answered::message).
    Assistant(Vec<Part>),
    /// What came of the calls of the assistant's message before it.
    Results(Vec<ToolOutcome>),
}

impl Message {
    /// A message of the user with one text.
    pub fn user(text: impl Into<Arc<str>>) -> Self {
        Self::User(vec![Part::Text(text.into())])
    }

    /// A message of the model with one text.
    pub fn assistant(text: impl Into<Arc<str>>) -> Self {
        Self::Assistant(vec![Part::Text(text.into())])
    }
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text(Arc<str>),
    /// What the model thought before it spoke; in messages of the model only.
    Reasoning(Reasoning),
    /// A tool that the model wants to be called; in messages of the model only.
    Call(ToolCall),
}

/// What a model thought.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// What it lets others see of it. May be empty.
    pub text: Arc<str>,
    /// What its provider wants back.
    pub seal: Seal,
}

/// What a provider put onto a thought so that it knows it again. Only the protocol that made it gets it back; for
/// another one the thought is left out, since it would refuse the whole request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seal {
    /// Nothing.
    #[default]
    Open,
    /// Nothing but the text itself, which this protocol's provider wants back with the calls that it led to.
    Echo {
        /// Whose it is.
        by: Protocol,
    },
    /// A signature over the text or the call it stands beside.
    Signed {
        /// Whose it is.
        by: Protocol,
        /// The signature.
        signature: Arc<str>,
    },
    /// The thought itself, readable for its provider only.
    Hidden {
        /// Whose it is.
        by: Protocol,
        /// The encrypted thought.
        data: Arc<str>,
    },
}

impl Seal {
    /// Whether it ends the thought it is on.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Signed { .. } | Self::Hidden { .. })
    }

    /// The signature, if this protocol made it.
    pub(crate) fn signature_of(&self, protocol: Protocol) -> Option<&str> {
        match self {
            Self::Signed { by, signature } if *by == protocol => Some(signature),
            _ => None,
        }
    }
}

/// A tool that a model wants to be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What the outcome is matched by.
    pub id: Arc<str>,
    /// The tool. It may be one that does not exist.
    pub name: Arc<str>,
    /// What the model gave to it.
    pub arguments: Arguments,
    /// What the provider wants back with the call.
    #[serde(default)]
    pub seal: Seal,
}

/// What came of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutcome {
    /// The call's `id`.
    pub call_id: Arc<str>,
    /// The tool.
    pub name: Arc<str>,
    /// What the model sees of it.
    pub text: Arc<str>,
    /// Whether it worked.
    pub status: OutcomeStatus,
}

/// Whether a call worked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    /// It did.
    #[default]
    Done,
    /// It did not, and the text says why.
    Failed,
}

/// What stands before a made-up id. Several servers give calls no id; an outcome needs one all the same.
const MADE_UP: &str = "metier-call-";

/// The id of a call that came without one: by its place in the conversation, so that the same answer to the same history
/// has the same id, and no two calls of a conversation share one.
pub(crate) fn made_up_id(turn: usize, index: u32) -> String {
    format!("{MADE_UP}{turn}-{index}")
}

/// Whether an id is ours. A provider that gave none does not want one back.
pub(crate) fn is_made_up(id: &str) -> bool {
    id.starts_with(MADE_UP)
}
