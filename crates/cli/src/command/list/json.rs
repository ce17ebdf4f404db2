//! The listing for programs: `{"loaded", "failed", "skills", "failures", "diagnostics"}`. Its keys are documented and stable.
//!
//! What every skill has is written by hand, since there may be tens of thousands of them; what few have goes through serde.

use super::{Extras, is_listed};
use crate::args::List;
use crate::json_text::push_text;
use crate::output::Output;
use anyhow::Result;
use metier_catalog::{Entry, EntryId, Failure, Relation, Snapshot};
use metier_diagnostic::{Diagnostic, JsonDiagnostic};
use serde::Serialize;
use std::path::Path;

/// How much is collected before it is passed on. It stays in the cache and is used again and again.
const PIECE: usize = 256 * 1024;

pub(super) fn write(args: &List, snapshot: &Snapshot, output: &mut Output) -> Result<()> {
    let (loaded, failed) = (snapshot.loaded(), snapshot.failures().len());
    let mut json = Vec::with_capacity(PIECE + PIECE / 4);
    json.extend_from_slice(format!("{{\"loaded\":{loaded},\"failed\":{failed},\"skills\":[").as_bytes());
    let mut is_first = true;
    for (id, entry) in snapshot.entries().filter(|(_, entry)| is_listed(entry, args)) {
        if !std::mem::take(&mut is_first) {
            json.push(b',');
        }
        push_skill(&mut json, args, snapshot, id, entry)?;
        if json.len() >= PIECE {
            output.raw(&json)?;
            json.clear();
        }
    }
    json.extend_from_slice(b"],\"failures\":");
    let failures: Vec<_> =
        snapshot.failures().iter().filter_map(Failure::reason).map(JsonDiagnostic::from).collect();
    serde_json::to_writer(&mut json, &failures)?;
    json.extend_from_slice(b",\"diagnostics\":");
    push_diagnostics(&mut json, snapshot.diagnostics())?;
    json.extend_from_slice(b"}\n");
    output.raw(&json)?;
    Ok(())
}

fn push_skill(
    json: &mut Vec<u8>,
    args: &List,
    snapshot: &Snapshot,
    id: EntryId,
    entry: &Entry,
) -> Result<()> {
    json.extend_from_slice(b"{\"name\":");
    push_text(json, entry.name().as_str());
    json.extend_from_slice(b",\"description\":");
    push_text(json, entry.description());
    json.extend_from_slice(b",\"version\":");
    match entry.version_text() {
        Some(version) => push_text(json, &version),
        None => json.extend_from_slice(b"null"),
    }
    json.extend_from_slice(b",\"origin\":");
    serde_json::to_writer(&mut *json, &snapshot.root(entry).origin)?;
    json.extend_from_slice(b",\"path\":");
    push_path(json, snapshot, entry);
    json.extend_from_slice(b",\"state\":");
    push_text(json, entry.state().word());
    push_rare(json, args, snapshot, id, entry)?;
    json.extend_from_slice(b",\"diagnostics\":");
    push_diagnostics(json, entry.diagnostics())?;
    json.push(b'}');
    Ok(())
}

/// What few skills have, or what was asked for.
fn push_rare(json: &mut Vec<u8>, args: &List, snapshot: &Snapshot, id: EntryId, entry: &Entry) -> Result<()> {
    push_some(json, "title", entry.title())?;
    if let Relation::ShadowedBy(winner) = entry.relation() {
        push_some(json, "shadowed_by", snapshot.entry(winner).map(|winner| path(snapshot, winner)))?;
    }
    if !(args.all || args.tokens || args.digest) {
        return Ok(());
    }
    let extras = Extras::of(args, snapshot, id, entry);
    push_some(json, "source", extras.source)?;
    let also_at: Vec<String> = extras.also_at.iter().map(|path| path.display().to_string()).collect();
    push_some(json, "also_at", (!also_at.is_empty()).then_some(also_at))?;
    push_some(json, "tokens", extras.cost)?;
    push_some(json, "digest", extras.digest.and_then(Result::ok))?;
    Ok(())
}

fn push_some(json: &mut Vec<u8>, key: &str, value: Option<impl Serialize>) -> Result<()> {
    if let Some(value) = value {
        json.push(b',');
        push_text(json, key);
        json.push(b':');
        serde_json::to_writer(json, &value)?;
    }
    Ok(())
}

fn push_diagnostics(json: &mut Vec<u8>, diagnostics: &[Diagnostic]) -> Result<()> {
    json.push(b'[');
    for (at, diagnostic) in diagnostics.iter().enumerate() {
        if at > 0 {
            json.push(b',');
        }
        serde_json::to_writer(&mut *json, &JsonDiagnostic::from(diagnostic))?;
    }
    json.push(b']');
    Ok(())
}

/// The path in its parts, which need not be put together for this.
fn push_path(json: &mut Vec<u8>, snapshot: &Snapshot, entry: &Entry) {
    let parts = snapshot.document_parts(entry).map(Path::to_str);
    let [Some(root), Some(folder), Some(document)] = parts else {
        return push_text(json, &path(snapshot, entry));
    };
    push_text(json, root);
    for part in [folder, document].into_iter().filter(|part| !part.is_empty()) {
        // Over the closing quote of what is there.
        json.pop();
        let at = json.len();
        push_text(json, part);
        json[at] = b'/';
    }
}

fn path(snapshot: &Snapshot, entry: &Entry) -> String {
    let path = snapshot.document_path(entry).into_os_string();
    path.into_string().unwrap_or_else(|path| path.to_string_lossy().into_owned())
}
