//! The listing for programs: `{"loaded", "failed", "skills", "failures", "diagnostics"}`. Its keys are documented and stable.

use super::{Extras, is_listed};
use crate::args::List;
use crate::output::Output;
use anyhow::Result;
use metier_catalog::{Cost, Entry, EntryId, Failure, Origin, Provenance, Relation, Snapshot};
use metier_diagnostic::{Diagnostic, JsonDiagnostic};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

pub(super) fn write(args: &List, snapshot: &Snapshot, output: &mut Output) -> Result<()> {
    let entries = || snapshot.entries().filter(|(_, entry)| is_listed(entry, args));
    let failures = || diagnostics(snapshot.failures().iter().filter_map(Failure::reason));
    output.json(&Listing {
        loaded: snapshot.loaded(),
        failed: snapshot.failures().len(),
        skills: Each(|| entries().map(|(id, entry)| Skill::new(args, snapshot, id, entry))),
        failures: Each(failures),
        diagnostics: Each(|| diagnostics(snapshot.diagnostics())),
    })?;
    Ok(())
}

fn diagnostics<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
) -> impl Iterator<Item = JsonDiagnostic<'a>> {
    diagnostics.into_iter().map(JsonDiagnostic::from)
}

#[derive(Serialize)]
struct Listing<S: Serialize, F: Serialize, D: Serialize> {
    loaded: usize,
    failed: usize,
    skills: S,
    failures: F,
    diagnostics: D,
}

/// An array whose elements are made one by one while it is written: there may be tens of thousands.
struct Each<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

#[derive(Serialize)]
struct Skill<'a> {
    name: &'a str,
    description: &'a str,
    version: Option<Cow<'a, str>>,
    origin: &'a Origin,
    path: String,
    state: &'static str,
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

impl<'a> Skill<'a> {
    fn new(args: &List, snapshot: &'a Snapshot, id: EntryId, entry: &'a Entry) -> Self {
        let path = |entry| snapshot.document_path(entry).to_string_lossy().into_owned();
        let extras = Extras::of(args, snapshot, id, entry);
        Self {
            name: entry.call_name(),
            description: entry.description(),
            version: entry.version_text(),
            origin: &snapshot.root(entry).origin,
            path: path(entry),
            state: entry.state().word(),
            title: entry.title(),
            shadowed_by: match entry.relation() {
                Relation::ShadowedBy(winner) => snapshot.entry(winner).map(path),
                _ => None,
            },
            source: extras.source,
            also_at: extras.also_at.iter().map(|path| path.display().to_string()).collect(),
            tokens: extras.cost,
            digest: extras.digest.and_then(Result::ok),
            diagnostics: diagnostics(entry.diagnostics()).collect(),
        }
    }
}
