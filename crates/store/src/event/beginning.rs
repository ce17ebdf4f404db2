use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::SessionId;

/// Who wanted something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A person.
    #[default]
    User,
    /// The model.
    Model,
    /// A program, over the library, MCP or HTTP.
    Caller,
    /// An agent file, before anybody asked.
    Agent,
    /// The session above this one.
    Parent,
    /// metier itself: a rule, a mode, a limit.
    Metier,
}

/// How a session began. It is the first event of each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Started {
    /// What was asked for. It is the first message of the conversation.
    pub request: String,
    /// Who asked.
    pub by: By,
    /// The session that this one is a child of.
    pub parent: Option<SessionId>,
    /// The project's folder.
    pub project: Option<String>,
    /// The model, as `provider/model`.
    pub model: Option<String>,
    /// The agent definition.
    pub agent: Option<String>,
    /// Which tools' names and shapes are spoken.
    pub surface: Option<String>,
    /// The version of metier that ran it.
    pub metier: String,
    /// How many skills were loaded.
    pub loaded: u64,
    /// How many were refused.
    pub failed: u64,
    /// The digest of the catalogue that the model saw.
    pub catalogue: Option<String>,
}

/// What stands before the first message and does not change: all that a model gets beside the messages. Without it a
/// conversation could not be sent again byte for byte after skills have changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Framed {
    /// The system prompt with the catalogue in it.
    pub system: String,
    /// The tools as they are sent, in their order.
    pub tools: Value,
    /// Whatever else is sent with each request, such as the effort.
    pub settings: Value,
}
