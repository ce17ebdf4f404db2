//! What a project's `metier.toml` switches on, and the file cut in two: what is trusted, and the rest.

use super::entry::{EntryDigest, TrustEntry, TrustKind, exact_path};
use super::item::{Detail, TrustItem};
use crate::config::{Config, EnvConfig, GateConfig, ModelConfig, NeedsConfig, RootConfig, SkillConfig};
use crate::places::Places;
use std::fmt::Debug;
use std::path::Path;

/// The name of the file, which is where all of this is.
const PLACE: &str = "metier.toml";

/// What a configuration switches on. What only narrows holds without trust, and is not among it.
pub(super) fn config_items(config: &Config, project: &Path, places: &Places) -> Vec<TrustItem> {
    let mut items = Vec::new();
    split(config.clone(), project, places, |item| {
        items.push(item);
        true
    });
    items
}

/// Cuts a configuration in two by what is trusted: what the user trusted, with what holds without trust (deny rules, lint), and
/// what came or changed since, which narrows and does nothing else.
pub(crate) fn split(
    config: Config,
    project: &Path,
    places: &Places,
    mut is_trusted: impl FnMut(TrustItem) -> bool,
) -> (Config, Config) {
    let Config { roots, skills, catalog, discovery, lint, gate, env, bundled, model, models, .. } = config;
    let (roots, other_roots) = roots.into_iter().partition(|one| is_trusted(root(one, project, places)));
    let (skills, other_skills) = skills.into_iter().partition(|(name, one)| is_trusted(skill(name, one)));
    let (gate, other_gate) = split_gate(gate, &mut is_trusted);
    let (env, other_env) = env.into_iter().partition(|(name, one)| is_trusted(variable(PLACE, name, one)));
    let (model, other_model) = either(model, |one| is_trusted(default_model(one)));
    let (models, other_models) =
        models.into_iter().partition(|(name, one)| is_trusted(named_model(name, one)));
    let (bundled, other_bundled) = either(bundled, |is_on| !is_on || is_trusted(setting("bundled", is_on)));
    let (catalog, other_catalog) = section("catalog", catalog, &mut is_trusted);
    let (discovery, other_discovery) = section("discovery", discovery, &mut is_trusted);
    let (limits, other_limits) = section("limits", config.limits, &mut is_trusted);
    (
        Config {
            roots,
            skills,
            catalog,
            discovery,
            lint,
            gate,
            env,
            bundled,
            model,
            models,
            limits,
            // A project's are never used; the caller that merges the settings reports them.
            providers: config.providers,
            mcp: config.mcp,
            changes: config.changes,
        },
        Config {
            roots: other_roots,
            skills: other_skills,
            catalog: other_catalog,
            discovery: other_discovery,
            gate: other_gate,
            env: other_env,
            bundled: other_bundled,
            model: other_model,
            models: other_models,
            limits: other_limits,
            ..Config::default()
        },
    )
}

fn split_gate(gate: GateConfig, mut is_trusted: impl FnMut(TrustItem) -> bool) -> (GateConfig, GateConfig) {
    let (allow, other_allow) =
        gate.allow.into_iter().partition(|one| is_trusted(rule(TrustKind::Allow, PLACE, one)));
    let (ask, other_ask) = gate.ask.into_iter().partition(|one| is_trusted(rule(TrustKind::Ask, PLACE, one)));
    let (own_mode, other_mode) = either(gate.mode, |one| is_trusted(mode(PLACE, one)));
    // A rule that denies, and a part that could not be read and may have denied, count without trust.
    let trusted = GateConfig { mode: own_mode, allow, ask, deny: gate.deny, incomplete: gate.incomplete };
    (trusted, GateConfig { mode: other_mode, allow: other_allow, ask: other_ask, ..GateConfig::default() })
}

/// A section of settings, which goes one way as a whole; one that says nothing switches nothing on.
fn section<T: Debug + Default + PartialEq>(
    name: &str,
    config: T,
    mut is_trusted: impl FnMut(TrustItem) -> bool,
) -> (T, T) {
    let is_first = config == T::default() || is_trusted(setting(name, &config));
    if is_first { (config, T::default()) } else { (T::default(), config) }
}

fn either<T>(value: Option<T>, is_first: impl FnOnce(&T) -> bool) -> (Option<T>, Option<T>) {
    match value {
        Some(value) if is_first(&value) => (Some(value), None),
        value => (None, value),
    }
}

/// A root is what is written of it and where it really leads: a link in its place is another root.
fn root(config: &RootConfig, project: &Path, places: &Places) -> TrustItem {
    let path = places.resolve(&config.path, project);
    let real = metier_files::real_path(&path).unwrap_or_else(|_| path.clone());
    let leads_to = exact_path(project, &real);
    let digest = EntryDigest::of_parts(&[format!("{config:?}").as_bytes(), leads_to.as_bytes()]);
    let mut details = vec![Detail::new(format!("its skills are listed and used, from {}", real.display()))];
    details.extend(
        config.allowed_tools.map(|means| Detail::new(format!("allowed-tools means {}", means.word()))),
    );
    details
        .extend(config.commands.map(|start| Detail::new(format!("commands start in the {}", start.word()))));
    TrustItem::new(TrustEntry::new(TrustKind::Root, PLACE, &config.path, digest), details)
}

fn skill(name: &str, config: &SkillConfig) -> TrustItem {
    let visibility = config.visibility.map_or("", |visibility| visibility.word());
    let NeedsConfig { hosts, write, env, seconds } = &config.needs;
    let mut details = Vec::new();
    if !visibility.is_empty() {
        details.push(Detail::new(format!("visibility is set to `{visibility}`")));
    }
    details.extend(hosts.iter().map(|host| Detail::new(format!("may ask to reach {host}"))));
    details.extend(write.iter().map(|glob| Detail::new(format!("may ask to write {glob}"))));
    details.extend(env.iter().map(|name| Detail {
        variables: [name.clone()].into(),
        ..Detail::new(format!("may ask to read {name} of your environment"))
    }));
    details.extend(seconds.map(|seconds| Detail::new(format!("may ask to run for up to {seconds} seconds"))));
    details.extend(config.start.map(|start| Detail::new(format!("scripts start in the {}", start.word()))));
    let needs = format!("{:?}", config.needs);
    // The first form of the record had the visibility alone, the second the needs as well.
    let digest = match config.start {
        None if config.needs == NeedsConfig::default() => EntryDigest::of(visibility),
        None => EntryDigest::of_parts(&[visibility.as_bytes(), needs.as_bytes()]),
        Some(start) => {
            EntryDigest::of_parts(&[visibility.as_bytes(), needs.as_bytes(), start.word().as_bytes()])
        }
    };
    TrustItem::new(TrustEntry::new(TrustKind::SkillSetting, PLACE, name, digest), details)
}

/// A rule of any file.
pub(super) fn rule(kind: TrustKind, place: &str, rule: &str) -> TrustItem {
    let says = match kind {
        TrustKind::Ask => "is asked about, also where the mode refuses",
        _ => "is allowed without a question",
    };
    TrustItem::new(TrustEntry::rule(kind, place, rule), vec![Detail::new(says)])
}

/// The mode of any file.
pub(super) fn mode(place: &str, mode: &str) -> TrustItem {
    TrustItem::new(TrustEntry::mode(place, mode), vec![Detail::new(format!("is set to `{mode}`"))])
}

/// An environment variable of any file.
pub(crate) fn variable(place: &str, name: &str, config: &EnvConfig) -> TrustItem {
    let says = if config.sensitive {
        "is given to processes of skills that name it, after approval"
    } else {
        "is put into the texts of skills, which a model reads, and given to their processes"
    };
    let detail = Detail { variables: [name.to_owned()].into(), ..Detail::new(says) };
    // The text of the debugger is what the first form of the record kept a digest of.
    let digest = EntryDigest::of(&format!("{config:?}"));
    TrustItem::new(TrustEntry::new(TrustKind::Variable, place, name, digest), vec![detail])
}

fn default_model(model: &str) -> TrustItem {
    let entry = TrustEntry::new(TrustKind::Model, PLACE, "", EntryDigest::of(model));
    let what = "default model".to_owned();
    TrustItem::called(what, entry, vec![Detail::new(format!("`{model}` is asked where you name none"))])
}

fn named_model(name: &str, config: &ModelConfig) -> TrustItem {
    let digest = EntryDigest::of(&format!("{config:?}"));
    let details = vec![Detail::new(format!("means `{}`", config.model))];
    TrustItem::new(TrustEntry::new(TrustKind::Model, PLACE, name, digest), details)
}

fn setting(name: &str, config: &impl Debug) -> TrustItem {
    let written = format!("{config:?}");
    let entry = TrustEntry::new(TrustKind::Setting, PLACE, name, EntryDigest::of(&written));
    TrustItem::new(entry, vec![Detail::new(written)])
}
