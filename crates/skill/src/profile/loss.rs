//! What is lost where a client does not act on a key. A restriction that is not kept is a change of meaning; anything
//! else works without the key; and where the key only says what holds anyway, nothing is lost.

use super::opinion::Opinion;
use crate::manifest::{Context, KeyType, KeyValue, Manifest, ManifestKey};
use crate::yaml::Entry;

/// What is lost without this key. `manifest` is our reading; without one nothing can be said.
pub(super) fn without(entry: &Entry<'_>, manifest: Option<&Manifest>) -> Opinion {
    let (Some(key), Some(manifest)) = (ManifestKey::of(&entry.key), manifest) else {
        return Opinion::ignored();
    };
    let written = &entry.key;
    if entry.value.is_null() {
        return Opinion::ignored();
    }
    match key.name {
        _ if key.takes == KeyType::Tools && !restricts(key, manifest) => Opinion::ignored(),
        _ if key.takes == KeyType::Tools => {
            Opinion::changed(format!("`{written}` is not acted on: the skill has every tool"))
                .help("rely on it only where it is kept; say in the body which tools to use")
        }
        "disable-model-invocation" if key.value(manifest).is_some() => {
            Opinion::changed(format!("`{written}` is not acted on: the model may start the skill by itself"))
                .help("say in the description that only the user starts it")
        }
        "user-invocable" if key.value(manifest).is_some() => {
            Opinion::changed(format!("`{written}` is not acted on: users may call the skill"))
        }
        "context" => match &manifest.more.context {
            Context::Inline => Opinion::ignored(),
            Context::Fork => {
                Opinion::lost("`context: fork` is not acted on: the skill runs in the conversation")
            }
            Context::Note(_) => Opinion::lost("the note under `context` is not shown"),
        },
        "metadata" => metadata(manifest).unwrap_or_else(Opinion::ignored),
        _ => match key.without {
            Some(what) => Opinion::lost(format!("`{written}` is not acted on: {what}")),
            None => Opinion::ignored(),
        },
    }
}

/// Whether a tool list keeps any tool away. A `*` keeps none.
fn restricts(key: &ManifestKey, manifest: &Manifest) -> bool {
    let Some(KeyValue::Tools(list)) = key.value(manifest) else { return false };
    match key.name {
        "disallowed-tools" => !list.value.is_empty(),
        _ => !list.value.iter().any(crate::tools::ToolPattern::is_wildcard),
    }
}

/// Whether nothing is lost without this key.
pub(super) fn is_nothing(entry: &Entry<'_>, manifest: Option<&Manifest>) -> bool {
    without(entry, manifest).is_harmless()
}

/// What becomes of `metadata` where it is kept.
pub(super) fn kept_metadata(manifest: Option<&Manifest>) -> Opinion {
    manifest.and_then(metadata).unwrap_or_else(Opinion::same)
}

/// What other clients do not know of `metadata`. The rest of it is kept or dropped, and nobody acts on it.
fn metadata(manifest: &Manifest) -> Option<Opinion> {
    let holds = |path: [&str; 2]| {
        let first = manifest.more.metadata.as_ref().and_then(|metadata| metadata.get(path[0]));
        first.and_then(|inner| inner.get(path[1])).is_some()
    };
    if holds(["metier", "needs"]) {
        return Some(Opinion::lost(
            "`metadata.metier.needs` is not acted on: nothing is asked for on its behalf",
        ));
    }
    if holds(["openclaw", "requires"]) {
        return Some(Opinion::lost("`metadata.openclaw.requires` is not checked"));
    }
    None
}
