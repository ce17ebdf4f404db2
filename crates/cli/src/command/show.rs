//! `show`: one skill whole.

mod remote;

use super::asked;
use crate::declared::Around;
use crate::manifest;
use crate::output::{Output, Tone, clean};
use crate::requirement::{Unmet, unmet, unprepared};
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_catalog::{
    AllowedTools, Capabilities, Cost, Entry, EntryId, Include, Lookup, Origin, Provenance, Reference,
    Snapshot, State,
};
use metier_diagnostic::{Diagnostic, Severity};
use metier_files::{FileDigest, ListBounds, Listing, TreeDigest};
use metier_skill::Needs;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Everything about one skill.
#[derive(Serialize)]
struct Whole<'a> {
    name: &'a str,
    title: Option<&'a str>,
    version: Option<String>,
    origin: &'a Origin,
    path: String,
    folder: String,
    state: State,
    /// Of the SKILL.md.
    digest: String,
    /// Of the folder; `null` when it could not be read whole.
    tree_digest: Option<String>,
    tokens: Cost,
    manifest: Value,
    /// What `allowed-tools` means here.
    allowed_tools_mean: AllowedTools,
    #[serde(serialize_with = "files_as_json")]
    files: Listing,
    capabilities: Option<Capabilities>,
    /// What it asks for beyond what every script has; `null` where it asks for nothing.
    needs: Option<Value>,
    unmet: Vec<Unmet>,
    /// What its text counts on around it.
    around: Around,
    /// Folders outside of the system's that its scripts would see, for the programs in them.
    shown_to_scripts: Vec<String>,
    source: Option<Provenance>,
    also_at: Vec<String>,
    trust_changes: Vec<String>,
    #[serde(serialize_with = "crate::output::as_json")]
    diagnostics: Vec<Diagnostic>,
}

fn files_as_json<S: serde::Serializer>(listing: &Listing, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(listing.files.iter().map(|file| {
        let path = file.path.as_path().display().to_string();
        json!({ "path": path, "size": file.size, "executable": file.executable })
    }))
}

pub(crate) fn run(name: &str, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let reference: Reference = name.parse()?;
    let snapshot = Arc::new(surroundings.snapshot(Include::Usual));
    let lookup = snapshot.find(&reference);
    let (id, entry) = match lookup {
        // What may not be used can still be looked at.
        Lookup::Found(id, entry) | Lookup::Unusable(id, entry) => (id, entry),
        other => bail!("`{name}`: {}; `metier explain {name}` says more", snapshot.in_words(&other)),
    };
    if let Some(skill) = entry.remote() {
        return remote::run(&snapshot, entry, skill, output);
    }
    let file = snapshot.read(entry).with_context(|| format!("`{name}` cannot be read any more"))?;
    let Some(read) = file.manifest() else {
        bail!("`{name}` has changed and is refused now; see `metier explain {name}`")
    };
    let whole = Whole::of(surroundings, &snapshot, id, entry, &file, read)?;
    if output.is_json() {
        return output.json(&whole);
    }
    write(&whole, &file, surroundings, output)
}

impl<'a> Whole<'a> {
    fn of(
        surroundings: &Surroundings,
        snapshot: &'a Arc<Snapshot>,
        id: EntryId,
        entry: &'a Entry,
        file: &metier_catalog::SkillFile,
        read: &metier_skill::Manifest,
    ) -> Result<Self> {
        let folder = snapshot.open(entry)?;
        let listing = folder.list(ListBounds::default())?;
        let mut diagnostics = file.diagnostics.clone();
        let source = Provenance::of(&folder).unwrap_or_else(|found| {
            diagnostics.push(*found);
            None
        });
        // Problems that only the listing sees, such as a name that differs in case alone.
        let known = |found: &&Diagnostic| !file.diagnostics.iter().any(|other| other.code == found.code);
        diagnostics.extend(entry.diagnostics().iter().filter(known).cloned());
        let changes = snapshot.trust_change(entry);
        let mut missing = unmet(snapshot, id, surroundings);
        missing.extend(unprepared(snapshot, entry, &folder, surroundings));
        Ok(Self {
            name: entry.name().as_str(),
            title: entry.title(),
            version: entry.version_text().map(Into::into),
            origin: &snapshot.root(entry).origin,
            path: snapshot.document_path(entry).display().to_string(),
            folder: snapshot.folder(entry).display().to_string(),
            state: entry.state(),
            digest: FileDigest::of(file.source.as_bytes()).to_string(),
            tree_digest: TreeDigest::of(&folder).ok().map(|digest| digest.to_string()),
            tokens: snapshot.cost(entry),
            manifest: manifest::to_json(read),
            allowed_tools_mean: snapshot.allowed_tools(id, read),
            capabilities: Capabilities::of(&folder, file).ok(),
            needs: read.more.needs.as_ref().and_then(asked::object),
            unmet: missing,
            around: Around::of(snapshot, entry, file, surroundings),
            shown_to_scripts: shown_to_scripts(&listing, surroundings),
            files: listing,
            source,
            also_at: snapshot.other_folders(id).iter().map(|path| path.display().to_string()).collect(),
            trust_changes: changes.map(|change| change.changes).unwrap_or_default(),
            diagnostics,
        })
    }
}

fn write(
    whole: &Whole<'_>,
    file: &metier_catalog::SkillFile,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<()> {
    let name = output.tinted(Tone::Strong, whole.name);
    output.line(format!("{name} ({}, {})", whole.origin, whole.state))?;
    let mut fact = |label: &str, value: &str| output.line(format!("  {label:<16} {}", clean(value)));
    fact("file", &surroundings.shown(std::path::Path::new(&whole.path)))?;
    fact("digest", &whole.digest)?;
    if let Some(digest) = &whole.tree_digest {
        fact("folder's digest", digest)?;
    }
    let tokens = |tokens: Option<metier_catalog::Tokens>| {
        tokens.map_or("none".to_owned(), |tokens| tokens.0.to_string())
    };
    fact(
        "tokens",
        &format!(
            "{} in the catalogue, {} on activation",
            tokens(whole.tokens.catalogue),
            tokens(whole.tokens.activation)
        ),
    )?;
    if let Some(source) = &whole.source {
        fact("installed from", &serde_json::to_string(source)?)?;
    }
    for path in &whole.also_at {
        fact("the same at", path)?;
    }
    for (label, line) in whole.around.lines() {
        fact(label, &line)?;
    }
    if let Value::Object(keys) = &whole.manifest {
        output.section("what it says")?;
        for (key, value) in keys {
            let value = match value {
                Value::String(text) => clean(text),
                other => clean(&other.to_string()),
            };
            output.line(format!("  {key:<16} {value}"))?;
        }
        if keys.contains_key("allowed_tools") || keys.contains_key("tools") {
            output
                .comment(format!("  its tool list is read as `{}` here", whole.allowed_tools_mean.word()))?;
        }
    }
    output.section("files")?;
    for file in &whole.files.files {
        let mark = if file.executable { "x" } else { " " };
        output.line(format!(
            "  {mark} {:>9}  {}",
            file.size,
            clean(&file.path.as_path().display().to_string())
        ))?;
    }
    asks(whole, file.manifest().and_then(|read| read.more.needs.as_ref()), output)?;
    for diagnostic in whole.diagnostics.iter().filter(|found| found.severity() >= Severity::Warning) {
        output.line("")?;
        output.diagnostic(&surroundings.relative(diagnostic), Some(&file.source))?;
    }
    Ok(())
}

/// What of the user's own folders the scripts of a skill would see, read-only; nothing where it has none.
fn shown_to_scripts(listing: &Listing, surroundings: &Surroundings) -> Vec<String> {
    if !listing.files.iter().any(|file| file.path.as_path().starts_with(metier_exec::SCRIPTS)) {
        return Vec::new();
    }
    let path = surroundings.search_path();
    path.usual_toolbox(&[]).shown.iter().map(|folder| surroundings.shown(folder)).collect()
}

/// What the skill would run or needs around it.
fn asks(whole: &Whole<'_>, needs: Option<&Needs>, output: &mut Output) -> Result<()> {
    let could_run = whole.capabilities.as_ref().map(super::trust::capability_lines).unwrap_or_default();
    let asks_for = needs.map(asked::in_words).unwrap_or_default();
    for (title, lines) in
        [("what it could run", could_run), ("what it asks for beyond what every script has", asks_for)]
    {
        if !lines.is_empty() {
            output.section(title)?;
        }
        for line in lines {
            output.line(format!("  {}", clean(&line)))?;
        }
    }
    if !whole.shown_to_scripts.is_empty() {
        output
            .section("what its scripts would see of your own folders, read-only, for the programs in them")?;
        for folder in &whole.shown_to_scripts {
            output.line(format!("  {}", clean(folder)))?;
        }
    }
    for change in &whole.trust_changes {
        let text = format!("since the project was trusted: {change}");
        output.line(output.tinted(Tone::Caution, &text))?;
    }
    if !whole.unmet.is_empty() {
        output.section("what it requires and is not here")?;
        for unmet in &whole.unmet {
            output.line(format!("  {}; {}", clean(&unmet.what), clean(&unmet.help)))?;
        }
    }
    Ok(())
}
