//! Who has models: the built-in table, and what a configuration makes of it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::endpoint::{Endpoint, EndpointError};
use crate::{Key, PlainHttp, Protocol, ProviderConfig, Timeouts};

/// Who has models, and how they are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provider {
    /// Its name, which stands before the slash of a model's.
    pub name: String,
    /// What it speaks.
    pub protocol: Protocol,
    /// Where it is.
    pub base_url: String,
    /// The environment variables that may have its key, the first one first.
    pub key_env: Vec<String>,
    /// Headers whose values are in environment variables, by name.
    pub header_env: BTreeMap<String, String>,
    /// Whether it is a server on this machine.
    pub place: Place,
    headers: BTreeMap<String, String>,
    proxy: Option<String>,
    timeouts: Timeouts,
    plain: PlainHttp,
}

/// Where a provider is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Somewhere in the network.
    Remote,
    /// A server that people run on their own machine; it may not be running.
    Local,
}

/// A row of the built-in table.
struct BuiltIn {
    name: &'static str,
    protocol: Protocol,
    base_url: &'static str,
    key_env: &'static [&'static str],
    place: Place,
}

const fn remote(
    name: &'static str,
    protocol: Protocol,
    base_url: &'static str,
    key_env: &'static [&'static str],
) -> BuiltIn {
    BuiltIn { name, protocol, base_url, key_env, place: Place::Remote }
}

const fn local(name: &'static str, base_url: &'static str) -> BuiltIn {
    BuiltIn { name, protocol: Protocol::OpenAi, base_url, key_env: &[], place: Place::Local }
}

/// Addresses and variables as the providers' own pages have them. In the order in which a key in the environment decides.
const BUILT_IN: &[BuiltIn] = &[
    remote("anthropic", Protocol::Anthropic, "https://api.anthropic.com/v1", &["ANTHROPIC_API_KEY"]),
    remote("openai", Protocol::OpenAi, "https://api.openai.com/v1", &["OPENAI_API_KEY"]),
    remote(
        "gemini",
        Protocol::Gemini,
        "https://generativelanguage.googleapis.com/v1beta",
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    ),
    remote("openrouter", Protocol::OpenAi, "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]),
    remote("groq", Protocol::OpenAi, "https://api.groq.com/openai/v1", &["GROQ_API_KEY"]),
    remote("mistral", Protocol::OpenAi, "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"]),
    remote("deepseek", Protocol::OpenAi, "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"]),
    local("ollama", "http://127.0.0.1:11434/v1"),
    local("llama.cpp", "http://127.0.0.1:8080/v1"),
    local("lmstudio", "http://127.0.0.1:1234/v1"),
    local("vllm", "http://127.0.0.1:8000/v1"),
];

/// A provider that nobody can reach by what is known of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the provider `{name}` has no address; set `base_url` in `[providers.{name}]`")]
pub struct ProviderError {
    name: String,
}

impl Provider {
    /// The built-in ones.
    pub fn built_in() -> impl Iterator<Item = Self> {
        BUILT_IN.iter().map(|row| Self {
            name: row.name.to_owned(),
            protocol: row.protocol,
            base_url: row.base_url.to_owned(),
            key_env: row.key_env.iter().map(|name| (*name).to_owned()).collect(),
            header_env: BTreeMap::new(),
            place: row.place,
            headers: BTreeMap::new(),
            proxy: None,
            timeouts: Timeouts::default(),
            plain: PlainHttp::default(),
        })
    }

    /// A provider as a configuration has it, built in or not.
    pub fn configured(name: &str, config: &ProviderConfig) -> Result<Self, ProviderError> {
        let known = Self::built_in().find(|provider| provider.name == name);
        let base_url = config.base_url.clone().or_else(|| known.as_ref().map(|known| known.base_url.clone()));
        let base_url = base_url.ok_or_else(|| ProviderError { name: name.to_owned() })?;
        let is_moved = known.as_ref().is_none_or(|known| known.base_url != base_url);
        let seconds = |own: Option<NonZeroU32>, other: Duration| {
            own.map_or(other, |seconds| Duration::from_secs(seconds.get().into()))
        };
        let times = Timeouts::default();
        Ok(Self {
            name: name.to_owned(),
            protocol: config
                .protocol
                .or_else(|| known.as_ref().map(|known| known.protocol))
                .unwrap_or(Protocol::OpenAi),
            key_env: match (&config.key_env, known.as_ref()) {
                (Some(name), _) => vec![name.clone()],
                // A key is for the address it was made for. Who moves a provider elsewhere says which key goes there.
                (None, Some(known)) if !is_moved => known.key_env.clone(),
                (None, _) => Vec::new(),
            },
            header_env: config.header_env.clone(),
            place: known.filter(|_| !is_moved).map_or(Place::Remote, |known| known.place),
            base_url,
            headers: config.headers.clone(),
            proxy: config.proxy.clone(),
            timeouts: Timeouts {
                connect: seconds(config.connect_seconds, times.connect),
                first_byte: seconds(config.first_byte_seconds, times.first_byte),
                between_bytes: seconds(config.between_bytes_seconds, times.between_bytes),
            },
            plain: if config.plain_http { PlainHttp::Allow } else { PlainHttp::Refuse },
        })
    }

    /// Where its models are asked, with the key and the headers that `key_env` and `header_env` name. `proxy` is the one
    /// of the environment, if any; one of the configuration counts before it.
    pub fn endpoint(
        &self,
        key: Option<Key>,
        header_values: &BTreeMap<String, Key>,
        proxy: Option<&str>,
    ) -> Result<Endpoint, EndpointError> {
        let mut endpoint =
            Endpoint::new(&self.base_url)?.with_timeouts(self.timeouts).with_plain_http(self.plain);
        if let Some(key) = key {
            endpoint = endpoint.with_key(key);
        }
        for (name, value) in &self.headers {
            endpoint = endpoint.with_header_text(name, value)?;
        }
        for (name, value) in header_values.iter().filter(|(name, _)| self.header_env.contains_key(*name)) {
            endpoint = endpoint.with_header(name, value.clone())?;
        }
        match self.proxy.as_deref().or(proxy) {
            Some(proxy) => endpoint.with_proxy(proxy),
            None => Ok(endpoint),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_provider_has_an_address_that_can_be_used() {
        for provider in Provider::built_in() {
            let endpoint = provider.endpoint(None, &BTreeMap::new(), None);
            assert!(endpoint.is_ok(), "{}: {endpoint:?}", provider.name);
            assert_eq!(provider.place == Place::Local, provider.base_url.starts_with("http://127.0.0.1:"));
        }
    }

    #[test]
    fn a_moved_provider_does_not_get_the_key_of_the_old_place() {
        let check = |config: ProviderConfig, expect: &[&str]| {
            assert_eq!(Provider::configured("openai", &config).unwrap().key_env, expect, "{config:?}");
        };
        let moved =
            ProviderConfig { base_url: Some("https://evil.example/v1".into()), ..ProviderConfig::default() };
        check(ProviderConfig::default(), &["OPENAI_API_KEY"]);
        check(moved.clone(), &[]);
        check(ProviderConfig { key_env: Some("WORK_KEY".into()), ..moved }, &["WORK_KEY"]);
        let proxied =
            ProviderConfig { proxy: Some("http://proxy.example:1".into()), ..ProviderConfig::default() };
        check(proxied, &["OPENAI_API_KEY"]);
    }

    #[test]
    fn a_new_provider_needs_an_address() {
        let error = Provider::configured("work", &ProviderConfig::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the provider `work` has no address; set `base_url` in `[providers.work]`"
        );
    }
}
