//! What a configuration says about models: names for them, who has them, and how much a run may use up.
//!
//! What the values mean is for metier-model, which takes these types as they are; here they only have a shape. That is why
//! nothing of this knows an address from a text: a catalogue of skills must not bring an HTTP client along.

use super::Amount;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// A name for a model, with what is known about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// The model: `provider/model`.
    pub model: String,
    /// How many tokens it can hold in mind.
    pub context: Option<NonZeroU32>,
    /// How many tokens it may write in one answer.
    pub max_output: Option<NonZeroU32>,
    /// How much it thinks: `low`, `medium`, `high`, or `{ tokens = 4096 }`.
    pub effort: Option<Effort>,
    /// How it calls tools: `native` by its provider's protocol, `constrained` by answers whose shape is prescribed.
    pub tools: ToolSupport,
    /// What it costs. Without prices metier counts tokens and no money.
    pub price: Option<PriceConfig>,
}

/// How much a model thinks before it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// At most so many tokens, for models that take a number instead of a word.
    Tokens(u32),
}

impl Effort {
    /// The word for it. A number is taken for the nearest one.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Low | Self::Tokens(..=4_095) => "low",
            Self::Medium | Self::Tokens(4_096..=16_383) => "medium",
            Self::High | Self::Tokens(_) => "high",
        }
    }
}

/// How a model calls tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolSupport {
    /// By its provider's protocol.
    #[default]
    Native,
    /// By answers whose shape is prescribed, for models that were not taught to call.
    Constrained,
}

/// What a million tokens cost, each as a text such as `"0.15"`: no rounding happens on the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceConfig {
    /// Read.
    pub input: Amount,
    /// Written.
    pub output: Amount,
    /// Read from a cache; what others cost without it.
    #[serde(default)]
    pub cache_read: Option<Amount>,
    /// Put into a cache; what others cost without it.
    #[serde(default)]
    pub cache_write: Option<Amount>,
}

/// A provider: one of the built-in ones with something changed, or one more. Only the user's own file is heard on this: a
/// key goes to no address that a project names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderConfig {
    /// What it speaks: `openai` (the default for a new one), `anthropic` or `gemini`.
    pub protocol: Option<Protocol>,
    /// Its address, as far as the version: `https://llm.example.com/v1`.
    pub base_url: Option<String>,
    /// The environment variable that has its key. A built-in provider at another address gets no key unless this names
    /// one.
    pub key_env: Option<String>,
    /// Headers for every request.
    pub headers: BTreeMap<String, String>,
    /// Headers whose values are in environment variables.
    pub header_env: BTreeMap<String, String>,
    /// The proxy that leads to it.
    pub proxy: Option<String>,
    /// Whether a key may travel to it without encryption.
    pub plain_http: bool,
    /// Seconds until there must be a connection.
    pub connect_seconds: Option<NonZeroU32>,
    /// Seconds from the question to the first byte of the answer.
    pub first_byte_seconds: Option<NonZeroU32>,
    /// Seconds from each byte to the next.
    pub between_bytes_seconds: Option<NonZeroU32>,
}

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

/// How much one request of a user may use up. A limit that is reached ends the run with what there is and the reason. A
/// project's word makes limits smaller, and larger only where it is trusted and the user's file says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// How often the model is asked. The default is 50.
    pub turns: Option<NonZeroU32>,
    /// How many tools are called. The default is 200.
    pub calls: Option<NonZeroU32>,
    /// How many tokens are used that no cache served. The default is 500,000.
    pub tokens: Option<NonZeroU32>,
    /// How much money is spent, as a text such as `"2.50"`, by the prices of `[models]`. There is no limit without it.
    pub money: Option<Amount>,
    /// How many seconds it takes. There is no limit without it.
    pub seconds: Option<NonZeroU32>,
    /// Why a limit could not be read. Somebody wanted one, so whoever runs must not go on without.
    #[serde(skip)]
    #[schemars(skip)]
    pub incomplete: Option<String>,
}
