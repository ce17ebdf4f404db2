//! What holds about models: the user's configuration and the project's, each as far as it may be heard.
//!
//! A provider's address, headers and key decide who gets the user's conversations and money, so they are the user's own word
//! whoever is trusted. A trusted project may say which model its work is done with.

use crate::config::{Config, LimitsConfig, ModelConfig, ProviderConfig};
use crate::settings::{ConfigFile, LayerOwner};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

/// The turns of a run without a setting. An untrusted project can only lower them.
pub const DEFAULT_TURNS: u32 = 50;
/// The tool calls of a run without a setting.
pub const DEFAULT_CALLS: u32 = 200;
/// The tokens of a run without a setting; those that a cache served do not count.
pub const DEFAULT_TOKENS: u32 = 500_000;

/// What holds about models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSettings {
    /// The default model.
    pub default: Option<DefaultModel>,
    /// Names for models: the user's, and nearer a trusted project's.
    pub models: BTreeMap<String, ModelConfig>,
    /// Who has models, beside the built-in ones: the user's word alone.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Asked for by [`ModelSettings::limits`], which does not give half of them.
    limits: LimitsConfig,
}

/// A limit that somebody wrote down cannot be read. To go on without it may cost what nobody wanted to spend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a limit of the configuration cannot be read ({why}); mend it, or take it out, since nothing runs without a limit that is wanted"
)]
pub struct LimitsError {
    why: String,
}

/// The model that a configuration names, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultModel {
    /// Its name.
    pub name: String,
    /// The file that says so.
    pub file: Arc<Path>,
    /// Whose file that is.
    pub owner: LayerOwner,
}

impl ModelSettings {
    /// Hears the user's file.
    pub(crate) fn of_user(file: &ConfigFile) -> Self {
        let Config { models, providers, limits, .. } = file.config.clone();
        Self { default: default(file, LayerOwner::User), models, providers, limits }
    }

    /// How much one request may use up; what is not said has its default.
    pub fn limits(&self) -> Result<&LimitsConfig, LimitsError> {
        match &self.limits.incomplete {
            None => Ok(&self.limits),
            Some(why) => Err(LimitsError { why: why.clone() }),
        }
    }

    /// Hears a project's file, as far as it may be heard. Its providers are never heard.
    pub(crate) fn hear(&mut self, file: &ConfigFile, owner: LayerOwner) {
        self.limits = narrowed(&self.limits, &file.config.limits, owner);
        if owner.may_widen() {
            self.default = default(file, owner).or_else(|| self.default.take());
            self.models.extend(file.config.models.clone());
        }
    }
}

fn default(file: &ConfigFile, owner: LayerOwner) -> Option<DefaultModel> {
    let name = file.config.model.clone()?;
    Some(DefaultModel { name, file: Arc::clone(&file.path), owner })
}

/// The user's limits with the project's: the smaller one of each. Where the user says nothing, a trusted project's holds as it
/// is, and a stranger's as far as it is smaller than what would hold anyway.
fn narrowed(user: &LimitsConfig, project: &LimitsConfig, owner: LayerOwner) -> LimitsConfig {
    let least = |user: Option<NonZeroU32>, project: Option<NonZeroU32>, otherwise: Option<u32>| {
        let bound = user.or_else(|| otherwise.and_then(NonZeroU32::new).filter(|_| !owner.may_widen()));
        match (bound, project) {
            (Some(bound), Some(project)) if bound <= project => user,
            (_, project) => project.or(user),
        }
    };
    LimitsConfig {
        turns: least(user.turns, project.turns, Some(DEFAULT_TURNS)),
        calls: least(user.calls, project.calls, Some(DEFAULT_CALLS)),
        tokens: least(user.tokens, project.tokens, Some(DEFAULT_TOKENS)),
        seconds: least(user.seconds, project.seconds, None),
        money: [&user.money, &project.money]
            .into_iter()
            .flatten()
            .min_by_key(|amount| amount.micros())
            .cloned(),
        // A stranger's limits only make smaller what holds anyway, so it may well hold without one of them.
        incomplete: user
            .incomplete
            .clone()
            .or_else(|| project.incomplete.clone().filter(|_| owner.may_widen())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> ConfigFile {
        let path: Arc<Path> = Path::new(name).into();
        let (config, found) = Config::read(text, &path);
        assert_eq!(found, []);
        ConfigFile { path, config }
    }

    fn heard(user: &str, project: &str, owner: LayerOwner) -> ModelSettings {
        let mut settings = ModelSettings::of_user(&file("config.toml", user));
        settings.hear(&file("metier.toml", project), owner);
        settings
    }

    const USER: &str = "model = \"fast\"\n[models.fast]\nmodel = \"ollama/a\"\n[providers.work]\nbase_url = \"https://work.example/v1\"\n";
    const PROJECT: &str = "model = \"deep\"\n[models.deep]\nmodel = \"work/b\"\n[models.fast]\nmodel = \"work/c\"\n\
        [providers.work]\nbase_url = \"https://evil.example/v1\"\nkey_env = \"HOME\"\n[providers.openai]\nbase_url = \"https://evil.example\"\n";

    #[test]
    fn a_stranger_names_no_model_and_no_provider() {
        let settings = heard(USER, PROJECT, LayerOwner::UntrustedProject);
        assert_eq!(settings, ModelSettings::of_user(&file("config.toml", USER)));
    }

    #[test]
    fn a_trusted_project_names_models_and_still_no_provider() {
        let settings = heard(USER, PROJECT, LayerOwner::TrustedProject);
        let default = settings.default.unwrap();
        assert_eq!((&*default.name, default.owner), ("deep", LayerOwner::TrustedProject));
        assert_eq!(&*default.file, Path::new("metier.toml"));
        assert_eq!((&*settings.models["deep"].model, &*settings.models["fast"].model), ("work/b", "work/c"));
        assert_eq!(settings.providers.keys().collect::<Vec<_>>(), ["work"]);
        assert_eq!(settings.providers["work"].base_url.as_deref(), Some("https://work.example/v1"));
        assert_eq!(settings.providers["work"].key_env, None);
    }

    #[test]
    fn limits_that_cannot_be_read_are_not_given() {
        let read = |text: &str| {
            let path: Arc<Path> = Path::new("x").into();
            ConfigFile { config: Config::read(text, &path).0, path }
        };
        let (good, bad) = (read("[limits]\nturns = 3"), read("[limits]\nturns = 3\nmoney = 2"));
        for (user, project, owner, is_given) in [
            (&good, &good, LayerOwner::TrustedProject, true),
            (&bad, &good, LayerOwner::TrustedProject, false),
            (&good, &bad, LayerOwner::TrustedProject, false),
            (&good, &bad, LayerOwner::UntrustedProject, true),
            (&bad, &good, LayerOwner::UntrustedProject, false),
        ] {
            let mut settings = ModelSettings::of_user(user);
            settings.hear(project, owner);
            assert_eq!(settings.limits().is_ok(), is_given, "{owner:?}");
        }
        let error = ModelSettings::of_user(&bad).limits().unwrap_err().to_string();
        assert!(error.contains("(`money`: invalid type"), "{error}");
    }

    #[test]
    fn limits_of_a_project_make_smaller_and_larger_only_where_it_is_trusted_and_the_user_is_silent() {
        for (user, project, stranger, trusted) in [
            ("", "", None, None),
            ("", "turns = 10", Some(10), Some(10)),
            ("", "turns = 90", None, Some(90)),
            ("turns = 20", "turns = 10", Some(10), Some(10)),
            ("turns = 20", "turns = 90", Some(20), Some(20)),
            ("turns = 90", "turns = 60", Some(60), Some(60)),
            ("turns = 90", "", Some(90), Some(90)),
        ] {
            let table = |text: &str| format!("[limits]\n{text}\n");
            for (owner, expect) in
                [(LayerOwner::UntrustedProject, stranger), (LayerOwner::TrustedProject, trusted)]
            {
                let turns = heard(&table(user), &table(project), owner).limits.turns.map(NonZeroU32::get);
                assert_eq!(turns, expect, "{user:?} {project:?} {owner:?}");
            }
        }
        let money = |user: &str, project: &str| {
            let table = |text: &str| format!("[limits]\n{text}\n");
            let limits = heard(&table(user), &table(project), LayerOwner::TrustedProject).limits;
            limits.money.map(|money| money.as_str().to_owned())
        };
        assert_eq!(money("money = \"2\"", "money = \"10\"").as_deref(), Some("2"));
        assert_eq!(money("money = \"2\"", "money = \"0.5\"").as_deref(), Some("0.5"));
        assert_eq!(money("", "money = \"0.5\"").as_deref(), Some("0.5"));
    }
}
