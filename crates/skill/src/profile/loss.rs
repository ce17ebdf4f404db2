//! What is lost where a client does not act on a key. A restriction that is not kept is a change of meaning; anything
//! else works without the key; and where the key only says what holds anyway, nothing is lost.

use super::opinion::Opinion;
use crate::manifest::{Context, Key, Manifest, UserOnly};
use crate::yaml::Entry;

/// What is lost without this key. `manifest` is our reading; without one nothing can be said.
pub(super) fn without(entry: &Entry<'_>, manifest: Option<&Manifest>) -> Opinion {
    let (Some(key), Some(manifest)) = (Key::of(&entry.key), manifest) else { return Opinion::ignored() };
    let written = &entry.key;
    if entry.value.is_null() {
        return Opinion::ignored();
    }
    match key {
        Key::AllowedTools | Key::Tools | Key::DisallowedTools if !restricts(key, manifest) => {
            Opinion::ignored()
        }
        Key::AllowedTools | Key::Tools | Key::DisallowedTools => {
            Opinion::changed(format!("`{written}` is not acted on: the skill has every tool"))
                .help("rely on it only where it is kept; say in the body which tools to use")
        }
        Key::DisableModelInvocation if manifest.user_only == Some(UserOnly::Declared) => {
            Opinion::changed(format!("`{written}` is not acted on: the model may start the skill by itself"))
                .help("say in the description that only the user starts it")
        }
        Key::UserInvocable if !manifest.user_invocable => {
            Opinion::changed(format!("`{written}` is not acted on: users may call the skill"))
        }
        Key::Context => match &manifest.more.context {
            Context::Inline => Opinion::ignored(),
            Context::Fork => {
                Opinion::lost("`context: fork` is not acted on: the skill runs in the conversation")
            }
            Context::Note(_) => Opinion::lost("the note under `context` is not shown"),
        },
        Key::Metadata => metadata(manifest).unwrap_or_else(Opinion::ignored),
        key => match plainly(key) {
            Some(what) => Opinion::lost(format!("`{written}` is not acted on: {what}")),
            None => Opinion::ignored(),
        },
    }
}

/// Whether a tool list keeps any tool away. A `*` keeps none.
fn restricts(key: Key, manifest: &Manifest) -> bool {
    let more = &manifest.more;
    let list = match key {
        Key::AllowedTools => &more.allowed_tools,
        Key::Tools => &more.tools,
        _ => &more.disallowed_tools,
    };
    list.as_ref().is_some_and(|list| match key {
        Key::DisallowedTools => !list.value.is_empty(),
        _ => !list.value.iter().any(crate::tools::ToolPattern::is_wildcard),
    })
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

/// What happens instead, for keys whose value does not matter.
fn plainly(key: Key) -> Option<&'static str> {
    Some(match key {
        Key::WhenToUse => "the model does not see when to use the skill",
        Key::Model => "the skill runs with the session's model",
        Key::Effort => "the skill runs with the session's effort",
        Key::MaxTurns => "only the session's limit of turns holds",
        Key::Tags => "records are not tagged",
        Key::Agent => "no agent definition is used",
        Key::Background => "whether to wait is not up to the skill",
        Key::ArgumentHint => "no hint is shown beside the name",
        Key::Arguments => "named arguments are not replaced in the body",
        Key::Paths => "the skill is offered whatever the work touches",
        Key::Hooks => "its hooks do not run",
        Key::Shell => "the shell is the client's choice",
        Key::Requires => "nothing checks that what it needs is there",
        _ => return None,
    })
}
