//! Which model is asked, and why this one.
//!
//! In this order: what `--model` says; what the configuration names; a model of `[models]` whose provider has a key in the
//! environment; a server on this machine that answers; none. Model names are nowhere made up: a key alone says who may be
//! asked, and not for what.

mod aliases;
mod local_server;
pub(crate) mod proxy_variables;

use crate::environment;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, anyhow, bail};
use metier_catalog::ModelSettings;
use metier_model::{ChatModel, Directory, Endpoint, Key, ModelChoice, Place, Provider, ProviderConfig};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The name that means no model.
const OFFLINE: &str = "offline";

/// Headers that prove who asks. Where one of them is given, no key is needed beside it.
const PROOFS: [&str; 4] = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

/// What was settled.
pub(crate) enum Settled {
    /// This one is asked.
    Model(Box<Chosen>),
    /// None is asked.
    Offline {
        /// Why, in words for the user.
        why: String,
    },
}

/// A model that was chosen.
pub(crate) struct Chosen {
    /// The model itself, at its provider's address.
    pub(crate) model: Arc<dyn ChatModel>,
    /// What is known about it: prices, how much it can hold in mind, how much it may write.
    pub(crate) choice: ModelChoice,
    /// Why this one, in words for the user.
    pub(crate) how: String,
}

/// What names a model on the command line.
pub(crate) const MODEL_FLAG: &str = "--model";

/// What a choice is made from.
pub(crate) struct Wish<'a> {
    /// What the user says.
    pub(crate) named: Option<&'a str>,
    /// What they say it with, or could: [`MODEL_FLAG`], or a command of a chat.
    pub(crate) flag: &'static str,
    /// What the configuration says, as far as it is heard.
    pub(crate) settings: &'a ModelSettings,
    /// A variable of the environment.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    /// A path as people write it.
    pub(crate) shown: Box<dyn Fn(&Path) -> String + 'a>,
}

impl<'a> Wish<'a> {
    /// A wish of this user, with their configuration and environment.
    pub(crate) fn new(named: Option<&'a str>, flag: &'static str, surroundings: &'a Surroundings) -> Self {
        let settings = &surroundings.layout.settings.models;
        let shown = Box::new(|path: &Path| surroundings.shown(path));
        Self { named, flag, settings, variable: &environment::variable, shown }
    }

    /// The same where somebody else than the user may name one, such as an agent's file. The user's own word goes first.
    pub(crate) fn settle_for(&self, other: Option<(&str, String)>) -> Result<Settled> {
        match other.filter(|_| self.named.is_none()) {
            Some((name, who)) => self.named(name, format!("{who} names it")).context(who),
            None => self.settle(),
        }
    }

    /// Settles which model is asked. What somebody named and cannot be had is an error; what nobody named is not.
    pub(crate) fn settle(&self) -> Result<Settled> {
        if let Some(name) = self.named {
            let word = self.flag;
            return self.named(name, format!("`{word}` names it")).with_context(|| format!("`{word}`"));
        }
        if let Some(default) = &self.settings.default {
            let file = (self.shown)(&default.file);
            let how = format!("`model` in {file} names it");
            return self.named(&default.name, how).with_context(|| format!("`model` in {file}"));
        }
        let with_key = self.with_key();
        if let Some((name, variable)) = self.configured_with_key(&with_key) {
            let how = format!("`{variable}` is set, and `[models.{name}]` is a model of that provider");
            return self.named(&name, how).with_context(|| format!("`[models.{name}]`"));
        }
        let hint = with_key.first().map(|(provider, variable)| {
            format!(
                "`{variable}` is set, but no model is named: try `{word} {provider}/NAME`, or put \
                 `model = \"{provider}/NAME\"` into your config.toml",
                word = self.flag,
                provider = provider.name
            )
        });
        if let Some((provider, id)) = local_server::first_that_answers(&self.local_servers()) {
            let host = provider.base_url.trim_start_matches("http://").split('/').next().unwrap_or_default();
            let also = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            let how = format!("{} answers at {host} and lists it first{also}", provider.name);
            return self.open(self.directory()?.resolve(id.as_str())?, how);
        }
        let why = hint.unwrap_or_else(|| {
            "no model is configured, no provider's key is in the environment, and no local server answers"
                .to_owned()
        });
        Ok(Settled::Offline { why })
    }

    /// The model that a skill names, where it can be had: an alias of the user's, or a model of a provider that the user has said
    /// something about, has a key for, or chose for this session. A skill is a stranger's, so a name alone opens no connection to anybody else.
    pub(crate) fn of_a_skill(&self, session: &str) -> Option<Chosen> {
        let name = self.named.filter(|name| *name != OFFLINE)?;
        let provider = name.split_once('/').map(|(provider, _)| provider);
        let is_users = match provider {
            None => self.settings.models.contains_key(name),
            Some(provider) => {
                provider == session
                    || self.settings.models.contains_key(name)
                    || self.settings.providers.contains_key(provider)
                    || self.with_key().iter().any(|(known, _)| known.name == provider)
            }
        };
        match self.named(name, String::new()) {
            Ok(Settled::Model(chosen)) if is_users => Some(*chosen),
            _ => None,
        }
    }

    /// Whether a name means a model, and why not. Nobody is asked, and no key is needed for it.
    pub(crate) fn knows(&self, name: &str) -> Result<()> {
        if name == OFFLINE { Ok(()) } else { self.resolved(name).map(drop) }
    }

    /// A model by a name that somebody wrote.
    fn named(&self, name: &str, how: String) -> Result<Settled> {
        if name == OFFLINE { Ok(Settled::Offline { why: how }) } else { self.open(self.resolved(name)?, how) }
    }

    fn resolved(&self, name: &str) -> Result<ModelChoice> {
        if self.settings.models.contains_key(name) {
            // By itself, so that what is wrong with it is told, and not with another one.
            let own = aliases::followed(&self.settings.models, name).map_err(|why| anyhow!(why))?;
            self.check_provider(&own.model)?;
            let one = BTreeMap::from([(name.to_owned(), own)]);
            return Ok(Directory::new(&one, &self.providers())?.resolve(name)?);
        }
        self.check_provider(name)?;
        Ok(self.directory()?.resolve(name)?)
    }

    /// A provider without an address is left out of the directory, so it has to say so when it is wanted.
    fn check_provider(&self, model: &str) -> Result<()> {
        if let Some((provider, _)) = model.split_once('/')
            && let Some(config) = self.settings.providers.get(provider)
        {
            Provider::configured(provider, config)?;
        }
        Ok(())
    }

    fn open(&self, choice: ModelChoice, how: String) -> Result<Settled> {
        let endpoint = self.endpoint(&choice.provider)?;
        let model = choice
            .open(endpoint)
            .with_context(|| format!("the provider `{}` cannot be asked", choice.provider.name))?;
        Ok(Settled::Model(Box::new(Chosen { model, choice, how })))
    }

    /// Where a provider is asked, with its key and headers from the environment.
    fn endpoint(&self, provider: &Provider) -> Result<Endpoint> {
        let name = &provider.name;
        let key = provider.key_env.iter().find_map(|variable| Some((variable, self.set(variable)?)));
        let has_proof = provider
            .header_env
            .keys()
            .any(|header| PROOFS.iter().any(|proof| header.eq_ignore_ascii_case(proof)));
        if key.is_none() && !provider.key_env.is_empty() && !has_proof {
            let variables: Vec<String> =
                provider.key_env.iter().map(|variable| format!("`{variable}`")).collect();
            bail!(
                "`{name}` wants a key, and {} is not set; set it, or choose another model with `{}`",
                variables.join(" or "),
                self.flag
            );
        }
        let key = key
            .map(|(variable, value)| Key::new(&value).with_context(|| format!("the value of `{variable}`")))
            .transpose()?;
        let mut headers = BTreeMap::new();
        for (header, variable) in &provider.header_env {
            let Some(value) = self.set(variable) else {
                bail!(
                    "`{name}` gets the header `{header}` from `{variable}`, which is not set; set it, or take it out of \
                     `[providers.{name}]`"
                );
            };
            let value = Key::new(&value).with_context(|| format!("the value of `{variable}`"))?;
            headers.insert(header.clone(), value);
        }
        let bare = provider.endpoint(None, &BTreeMap::new(), None)?;
        let is_tls = provider.base_url.to_ascii_lowercase().starts_with("https:");
        // One of the configuration counts before them.
        let has_own = self.settings.providers.get(name).is_some_and(|config| config.proxy.is_some());
        let proxy = proxy_variables::proxy_for(is_tls, &bare.host(), self.variable).filter(|_| !has_own);
        if let Some(proxy) = &proxy
            && bare.with_proxy(&proxy.address).is_err()
        {
            // Not what it says: a password may be in it.
            bail!(
                "`{}` names no proxy through which a model can be asked; write one such as \
                 `http://proxy.example.com:3128`, or spare the host with `NO_PROXY`",
                proxy.variable
            );
        }
        Ok(provider.endpoint(key, &headers, proxy.as_ref().map(|proxy| proxy.address.as_str()))?)
    }

    /// The providers that have a key in the environment, with the variable that has it: in the order of the built-in table,
    /// then those that the user added.
    fn with_key(&self) -> Vec<(Provider, String)> {
        let known = self.known_providers();
        let with_key = known.into_iter().filter_map(|provider| {
            let variable = provider.key_env.iter().find(|variable| self.set(variable).is_some())?.clone();
            Some((provider, variable))
        });
        with_key.collect()
    }

    /// The first name of `[models]`, by the alphabet, of the first provider with a key that has one.
    fn configured_with_key(&self, with_key: &[(Provider, String)]) -> Option<(String, String)> {
        let models = &self.settings.models;
        with_key.iter().find_map(|(provider, variable)| {
            let is_theirs = |name: &&String| {
                let model = aliases::followed(models, name).map(|config| config.model).unwrap_or_default();
                model.split_once('/').is_some_and(|(theirs, _)| theirs == provider.name)
            };
            Some((models.keys().find(is_theirs)?.clone(), variable.clone()))
        })
    }

    /// Those that people run on their own machine.
    fn local_servers(&self) -> Vec<Provider> {
        let is_local = |provider: &Provider| {
            Provider::built_in().any(|known| known.place == Place::Local && known.name == provider.name)
        };
        self.known_providers().into_iter().filter(is_local).collect()
    }

    /// The built-in providers as the user's configuration has them, in the order of the table; then the user's own, by name.
    fn known_providers(&self) -> Vec<Provider> {
        let configured = self.providers();
        let of_config = |name: &str| Provider::configured(name, configured.get(name)?).ok();
        let mut known: Vec<Provider> =
            Provider::built_in().map(|built_in| of_config(&built_in.name).unwrap_or(built_in)).collect();
        for name in configured.keys() {
            if !known.iter().any(|provider| provider.name == *name) {
                known.extend(of_config(name));
            }
        }
        known
    }

    /// Everything that can be used. What is wrong with a name that nobody asked for is no reason to fail.
    fn directory(&self) -> Result<Directory> {
        let providers = self.providers();
        let models = &self.settings.models;
        let followed =
            models.keys().filter_map(|name| Some((name.clone(), aliases::followed(models, name).ok()?)));
        let usable = followed.filter(|(name, config)| {
            Directory::new(&BTreeMap::from([(name.clone(), config.clone())]), &providers).is_ok()
        });
        Ok(Directory::new(&usable.collect(), &providers)?)
    }

    /// The user's providers, without those that have no address.
    fn providers(&self) -> BTreeMap<String, ProviderConfig> {
        let mut providers = self.settings.providers.clone();
        providers.retain(|name, config| Provider::configured(name, config).is_ok());
        providers
    }

    /// The value of a variable; set and empty counts as not set.
    fn set(&self, variable: &str) -> Option<String> {
        (self.variable)(variable).filter(|value| !value.trim().is_empty())
    }
}

#[cfg(test)]
mod tests;
