//! What a user says about models and providers: `[models.NAME]` and `[providers.NAME]`.
//!
//! Keys are never here: a configuration names the environment variable that has one, and whoever reads the environment
//! passes it in.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Effort, Protocol};

/// A name for a model, with what is known about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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

/// How a model calls tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolSupport {
    /// By its provider's protocol.
    #[default]
    Native,
    /// By answers whose shape is prescribed, for models that were not taught to call.
    Constrained,
}

/// What a million tokens cost, each as a text such as `"0.15"`: no rounding happens on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceConfig {
    /// Read.
    pub input: String,
    /// Written.
    pub output: String,
    /// Read from a cache; what others cost without it.
    #[serde(default)]
    pub cache_read: Option<String>,
    /// Put into a cache; what others cost without it.
    #[serde(default)]
    pub cache_write: Option<String>,
}

/// A provider: one of the built-in ones with something changed, or one more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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
