//! Which models there are, by all the names that a user may write.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::endpoint::{Endpoint, EndpointError};
use crate::provider::{Provider, ProviderError};
use crate::{
    ChatModel, Constrained, Effort, Habits, ModelConfig, ModelId, ModelIdError, Money, PriceConfig, Prices,
    ProviderConfig, Remote, ToolSupport,
};

/// Aliases and providers: what a name means.
///
/// ```
/// use std::collections::BTreeMap;
/// use metier_model::{Directory, ModelConfig};
///
/// let fast = ModelConfig { model: "ollama/qwen3:8b".into(), ..ModelConfig::default() };
/// let directory = Directory::new(&BTreeMap::from([("fast".into(), fast)]), &BTreeMap::new())?;
/// assert_eq!(directory.resolve("fast")?.id.as_str(), "ollama/qwen3:8b");
/// assert_eq!(directory.resolve("openrouter/moonshotai/kimi-k2")?.provider.name, "openrouter");
/// assert!(directory.resolve("fats").unwrap_err().to_string().contains("fast"));
/// # Ok::<(), metier_model::DirectoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Directory {
    aliases: BTreeMap<String, ModelChoice>,
    providers: BTreeMap<String, Provider>,
}

/// A model that was chosen, with all that is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelChoice {
    /// The model.
    pub id: ModelId,
    /// Who has it.
    pub provider: Provider,
    /// What it costs, if the configuration says so.
    pub prices: Option<Prices>,
    /// How many tokens it can hold in mind, if the configuration says so.
    pub context: Option<u32>,
    /// How many tokens it may write in one answer.
    pub max_output: Option<u32>,
    /// How much it thinks.
    pub effort: Option<Effort>,
    /// How it calls tools.
    pub tools: ToolSupport,
}

/// Why a name means no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// Nothing is called so.
    #[error(
        "there is no model `{name}`; {}write `provider/model` with one of these providers: {providers}",
        also(.aliases)
    )]
    Unknown {
        /// What was written.
        name: String,
        /// The aliases there are.
        aliases: String,
        /// The providers there are.
        providers: String,
    },
    /// An alias leads nowhere.
    #[error("the model `{alias}`: {source}")]
    Alias {
        /// The alias.
        alias: String,
        /// What is wrong with it.
        source: Box<Self>,
    },
    /// An alias names no model.
    #[error("{0}")]
    Id(#[from] ModelIdError),
    /// A provider cannot be reached.
    #[error("{0}")]
    Provider(#[from] ProviderError),
}

impl Directory {
    /// The built-in providers with what a configuration says about models and providers.
    pub fn new(
        models: &BTreeMap<String, ModelConfig>,
        providers: &BTreeMap<String, ProviderConfig>,
    ) -> Result<Self, DirectoryError> {
        let mut known: BTreeMap<String, Provider> =
            Provider::built_in().map(|provider| (provider.name.clone(), provider)).collect();
        for (name, config) in providers {
            known.insert(name.clone(), Provider::configured(name, config)?);
        }
        let mut directory = Self { aliases: BTreeMap::new(), providers: known };
        let mut aliases = BTreeMap::new();
        for (alias, config) in models {
            let choice = directory
                .choice(config)
                .map_err(|source| DirectoryError::Alias { alias: alias.clone(), source: Box::new(source) })?;
            aliases.insert(alias.clone(), choice);
        }
        directory.aliases = aliases;
        Ok(directory)
    }

    /// The model that a name means: an alias, or `provider/model`. What is known about a model by an alias holds also when
    /// it is named in full.
    pub fn resolve(&self, name: &str) -> Result<ModelChoice, DirectoryError> {
        if let Some(choice) = self.aliases.get(name) {
            return Ok(choice.clone());
        }
        let id: ModelId = name.parse().map_err(|_| self.unknown(name))?;
        if let Some(choice) = self.aliases.values().find(|choice| choice.id == id) {
            return Ok(choice.clone());
        }
        self.plain(id)
    }

    /// The providers.
    pub fn providers(&self) -> impl Iterator<Item = &Provider> {
        self.providers.values()
    }

    fn choice(&self, config: &ModelConfig) -> Result<ModelChoice, DirectoryError> {
        Ok(ModelChoice {
            prices: config.price.as_ref().map(prices),
            context: config.context.map(Into::into),
            max_output: config.max_output.map(Into::into),
            effort: config.effort,
            tools: config.tools,
            ..self.plain(config.model.parse()?)?
        })
    }

    fn plain(&self, id: ModelId) -> Result<ModelChoice, DirectoryError> {
        let provider = self.providers.get(id.provider()).ok_or_else(|| self.unknown(id.as_str()))?.clone();
        Ok(ModelChoice {
            id,
            provider,
            prices: None,
            context: None,
            max_output: None,
            effort: None,
            tools: ToolSupport::default(),
        })
    }

    fn unknown(&self, name: &str) -> DirectoryError {
        let list = |names: Vec<&str>| names.join(", ");
        DirectoryError::Unknown {
            name: name.to_owned(),
            aliases: list(self.aliases.keys().map(String::as_str).collect()),
            providers: list(self.providers.keys().map(String::as_str).collect()),
        }
    }
}

impl ModelChoice {
    /// The model itself, at an endpoint of its provider.
    pub fn open(&self, endpoint: Endpoint) -> Result<Arc<dyn ChatModel>, EndpointError> {
        let habits = Habits { max_output: self.max_output, effort: self.effort };
        let remote = Remote::new(self.id.clone(), self.provider.protocol, endpoint)?.with_habits(habits);
        Ok(match self.tools {
            ToolSupport::Native => Arc::new(remote),
            ToolSupport::Constrained => Arc::new(Constrained::new(Arc::new(remote))),
        })
    }
}

fn prices(config: &PriceConfig) -> Prices {
    Prices {
        input: Money::from(&config.input),
        output: Money::from(&config.output),
        cache_read: config.cache_read.as_ref().map(Money::from),
        cache_write: config.cache_write.as_ref().map(Money::from),
    }
}

fn also(aliases: &str) -> String {
    if aliases.is_empty() { String::new() } else { format!("there are {aliases}; or ") }
}
