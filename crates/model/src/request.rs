//! What a model is asked.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Effort, Message};

/// What a model is asked. Copies share their texts, messages and tools, so each turn can have one of its own.
///
/// The bytes that are sent follow from the value alone: the same request is the same bytes, and a request whose history
/// goes on begins with the bytes of the shorter one. Providers' caches depend on that, so whoever builds requests appends
/// to `messages` and changes nothing before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// What the model is told before the conversation.
    pub system: Vec<Arc<str>>,
    /// The conversation so far, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// What it may call.
    pub tools: Arc<[ToolDefinition]>,
    /// Whether it must call something.
    pub choice: ToolChoice,
    /// What shape its text has.
    pub schema: Option<Schema>,
    /// How many tokens it may write; the provider's own limit without it, and [`DEFAULT_MAX_OUTPUT`] where the protocol
    /// wants a number.
    pub max_output: Option<u32>,
    /// How much it thinks.
    pub effort: Option<Effort>,
    /// How much chance there is in what it writes.
    pub temperature: Option<f32>,
}

/// What is sent where a protocol wants a limit and nobody named one: more than any single step of an agent needs, and no
/// more than every current model can write.
pub const DEFAULT_MAX_OUTPUT: u32 = 8_192;

impl Request {
    /// How often the model has spoken already.
    pub(crate) fn turn(&self) -> usize {
        self.messages.iter().filter(|message| matches!(***message, Message::Assistant(_))).count()
    }
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Its name: letters, digits, `_` and `-`, at most 64 of them, which every provider takes.
    pub name: Arc<str>,
    /// What it is for.
    pub description: Arc<str>,
    /// What it takes: a JSON schema of an object. Its keys are sent in the order they have here.
    pub parameters: Arc<Value>,
}

/// Whether a model must call something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// As it sees fit.
    #[default]
    Auto,
    /// It must not, although earlier messages hold calls.
    None,
    /// Some tool.
    Any,
    /// This one.
    Tool(Arc<str>),
}

/// What shape a model's text has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// A short name; some providers show it to the model.
    pub name: Arc<str>,
    /// The JSON schema.
    pub schema: Arc<Value>,
}
