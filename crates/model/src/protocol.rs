//! The languages that providers speak.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A language of the wire. Many providers speak the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// `POST {base}/chat/completions`, as `OpenAI` began it and most servers have it.
    #[serde(rename = "openai")]
    OpenAi,
    /// `POST {base}/messages`, Anthropic's.
    Anthropic,
    /// `POST {base}/models/{model}:streamGenerateContent`, Google's.
    Gemini,
}
