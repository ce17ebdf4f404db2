use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Usage;

/// What a model answered in one turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answered {
    /// Which turn, from 1.
    pub turn: u64,
    /// Its pieces, in the order in which they came: that order is sent back.
    pub parts: Vec<Part>,
    /// What it cost in tokens.
    pub usage: Usage,
    /// What it cost in millionths of the currency of the price list, where a price is known.
    pub cost_micros: Option<u64>,
    /// Why the model ended, in the provider's word.
    pub stop: Option<String>,
    /// From the request to the last byte.
    pub ms: u64,
    /// From the request to the first byte.
    pub first_byte_ms: Option<u64>,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    /// Words for the user.
    Text {
        /// The words.
        text: String,
    },
    /// What the model thought. `opaque` is what the provider wants back, as it came: signatures hold only over the same
    /// bytes.
    Reasoning {
        /// What can be read of it.
        #[serde(default)]
        text: String,
        /// What is sent back.
        #[serde(default)]
        opaque: Value,
    },
    /// A tool that it wants to call.
    Call(ToolCall),
}

/// A call as the model made it, before anybody looked at it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call; results name it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The input. Null where it is not JSON.
    #[serde(default)]
    pub input: Value,
    /// The input as the model wrote it, where it is not JSON or where writing `input` would give other bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// What the provider wants back with the call, as it came.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub opaque: Value,
}

impl Answered {
    /// All words for the user, one after the other.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The calls, in their order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }
}
