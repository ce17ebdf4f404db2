//! Claude Code: the widest set of keys, and the name is a label.

use super::opinion::{Bench, Opinion, Refusal};
use super::substitution::{self, CLAUDE};
use super::text::{grouped, shown};
use super::ultron::note_repairs;
use super::{FileView, loss};
use crate::manifest::{Context, Manifest};
use crate::yaml::Entry;

/// How many characters of description and `when_to_use` the listing shows.
const MAX_LISTED: usize = 1_536;

/// The keys it acts on as metier does.
const ACTED_ON: [&str; 14] = [
    "arguments",
    "when_to_use",
    "disallowed-tools",
    "argument-hint",
    "disable-model-invocation",
    "user-invocable",
    "model",
    "effort",
    "agent",
    "background",
    "paths",
    "shell",
    "license",
    "compatibility",
];

#[expect(clippy::unnecessary_wraps, reason = "other clients refuse files, and all stand in one table")]
pub(super) fn judge(bench: &mut Bench, file: &FileView<'_>) -> Result<(), Refusal> {
    bench.require_exact_file_name(file);
    for entry in file.entries() {
        bench.key(&entry, opinion(&entry, file));
    }
    note_repairs(bench, file);
    substitution::judge(bench, file, &CLAUDE);
    Ok(())
}

fn opinion(entry: &Entry<'_>, file: &FileView<'_>) -> Opinion {
    let manifest = file.manifest();
    match &*entry.key {
        "name" => name(entry, file.folder),
        "description" => description(entry, manifest),
        "allowed-tools" => allowed_tools(entry, manifest),
        "context" => match manifest.map(|manifest| &manifest.more.context) {
            Some(Context::Note(_)) => {
                Opinion::lost("`context` takes `fork` and nothing else: the note is not shown")
            }
            Some(Context::Inline) => {
                Opinion::same_but("`inline` is no value there and what holds without one")
            }
            Some(Context::Fork) | None => Opinion::same(),
        },
        "metadata" if entry.value.entries().is_none() && !entry.value.is_null() => {
            Opinion::lost("`metadata` is no mapping and is dropped").at(entry.value.span)
        }
        "arguments" if has_records(entry) => {
            Opinion::changed("`arguments` takes names alone: descriptions and defaults are not read")
                .at(entry.value.span)
                .help("list the names, and say in the body what counts when one is missing")
        }
        "hooks" if !entry.value.is_null() => {
            Opinion::changed("`hooks` stay for the rest of the session; here they end with the activation")
        }
        key if ACTED_ON.contains(&key) => Opinion::same(),
        _ => loss::without(entry, manifest),
    }
}

/// Whether `arguments` says more of an argument than its name.
fn has_records(entry: &Entry<'_>) -> bool {
    entry.value.items().is_some_and(|items| items.iter().any(|item| item.text().is_none()))
}

/// The command is the folder's name, whatever the file says.
fn name(entry: &Entry<'_>, folder: Option<&str>) -> Opinion {
    match (entry.value.text().map(str::trim), folder) {
        (Some(name), Some(folder)) if !name.is_empty() && name != folder && !entry.value.is_null() => {
            let reason = format!("the name is a label: the skill is called `/{folder}`");
            Opinion::changed(reason).at(entry.value.span).help("give the folder and the skill the same name")
        }
        _ => Opinion::same(),
    }
}

fn description(entry: &Entry<'_>, manifest: Option<&Manifest>) -> Opinion {
    let listed = manifest.map_or(0, |manifest| manifest.offer().chars().count());
    if listed <= MAX_LISTED {
        return Opinion::same();
    }
    let (listed, most) = (grouped(listed), grouped(MAX_LISTED));
    let reason = format!(
        "description and `when_to_use` have {listed} characters; the listing shows {most}, so the model does not see the end"
    );
    Opinion::changed(reason).at(entry.value.span).help("say first when to use it")
}

/// Pre-approval never keeps a tool away.
fn allowed_tools(entry: &Entry<'_>, manifest: Option<&Manifest>) -> Opinion {
    let list = manifest.and_then(|manifest| manifest.more.allowed_tools.as_ref());
    match list {
        Some(list) if !list.value.iter().any(crate::tools::ToolPattern::is_wildcard) => {
            let tools: Vec<_> = list.value.iter().map(ToString::to_string).collect();
            let what = if tools.is_empty() { "nothing".to_owned() } else { shown(&tools.join(" ")) };
            let reason = format!(
                "`allowed-tools` approves {what} beforehand and restricts nothing: every other tool may be called, too"
            );
            Opinion::changed(reason).at(entry.value.span).help("use `disallowed-tools` to keep tools away")
        }
        _ => Opinion::ignored(),
    }
}
