//! The listing for programs. Its keys are documented and stable.

use super::{Extras, is_listed};
use crate::args::List;
use crate::output::Output;
use anyhow::Result;
use metier_catalog::{Cost, Entry, EntryId, Failure, Origin, Provenance, Relation, Snapshot, State};
use metier_diagnostic::{Diagnostic, JsonDiagnostic};
use serde::Serialize;
use std::borrow::Cow;
use std::num::NonZero;

#[derive(Serialize)]
struct Skill<'a> {
    name: &'a str,
    description: &'a str,
    version: Option<Cow<'a, str>>,
    origin: &'a Origin,
    path: String,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shadowed_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Provenance>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_at: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Cost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

/// Fewer skills than this are written by one thread: starting another costs as much as writing them.
const WORTH_A_THREAD: usize = 1_000;

/// `{"loaded", "failed", "skills", "failures", "diagnostics"}`. The skills are most of it by far, so their JSON is made in
/// pieces by several threads, and the frame around the pieces is put together here.
pub(super) fn write(args: &List, snapshot: &Snapshot, output: &mut Output) -> Result<()> {
    let listed: Vec<(EntryId, &Entry)> =
        snapshot.entries().filter(|(_, entry)| is_listed(entry, args)).collect();
    let (loaded, failed) = (snapshot.loaded(), snapshot.failures().len());
    output.raw(format!("{{\"loaded\":{loaded},\"failed\":{failed},\"skills\":[").as_bytes())?;
    let mut is_first = true;
    for piece in pieces(args, snapshot, &listed)?.iter().filter(|piece| !piece.is_empty()) {
        if !std::mem::take(&mut is_first) {
            output.raw(b",")?;
        }
        output.raw(piece)?;
    }
    let failures: Vec<_> =
        snapshot.failures().iter().filter_map(Failure::reason).map(JsonDiagnostic::from).collect();
    output.raw(b"],\"failures\":")?;
    output.raw(&serde_json::to_vec(&failures)?)?;
    output.raw(b",\"diagnostics\":")?;
    output.raw(&serde_json::to_vec(&all(snapshot.diagnostics()))?)?;
    output.raw(b"}\n")?;
    Ok(())
}

fn pieces(args: &List, snapshot: &Snapshot, listed: &[(EntryId, &Entry)]) -> Result<Vec<Vec<u8>>> {
    let threads = match listed.len() {
        ..WORTH_A_THREAD => 1,
        _ => std::thread::available_parallelism().map_or(1, NonZero::get),
    };
    let size = listed.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let work = listed.chunks(size).map(|chunk| scope.spawn(move || piece(args, snapshot, chunk)));
        // All are started before the first is waited for.
        let work: Vec<_> = work.collect();
        work.into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// The objects of some skills, with commas between them.
fn piece(args: &List, snapshot: &Snapshot, listed: &[(EntryId, &Entry)]) -> Result<Vec<u8>> {
    // A name, a path, a description of some hundred bytes and the keys: most skills fit.
    let mut json = Vec::with_capacity(listed.len() * 512);
    for (at, (id, entry)) in listed.iter().enumerate() {
        if at > 0 {
            json.push(b',');
        }
        serde_json::to_writer(&mut json, &Skill::of(args, snapshot, *id, entry))?;
    }
    Ok(json)
}

fn all(diagnostics: &[Diagnostic]) -> Vec<JsonDiagnostic<'_>> {
    diagnostics.iter().map(JsonDiagnostic::from).collect()
}

impl<'a> Skill<'a> {
    fn of(args: &List, snapshot: &'a Snapshot, id: EntryId, entry: &'a Entry) -> Self {
        let extras = Extras::of(args, snapshot, id, entry);
        let shadowed_by = match entry.relation() {
            Relation::ShadowedBy(id) => snapshot.entry(id).map(|winner| path(snapshot, winner)),
            _ => None,
        };
        Self {
            name: entry.name().as_str(),
            description: entry.description(),
            version: entry.version_text(),
            origin: &snapshot.root(entry).origin,
            path: path(snapshot, entry),
            state: entry.state(),
            title: entry.title(),
            shadowed_by,
            source: extras.source,
            also_at: extras.also_at.iter().map(|path| path.display().to_string()).collect(),
            tokens: extras.cost,
            digest: extras.digest.and_then(Result::ok),
            diagnostics: all(entry.diagnostics()),
        }
    }
}

fn path(snapshot: &Snapshot, entry: &Entry) -> String {
    snapshot
        .document_path(entry)
        .into_os_string()
        .into_string()
        .unwrap_or_else(|path| path.to_string_lossy().into_owned())
}
