//! The listing for programs. Its keys are documented and stable.

use super::{Extras, is_listed};
use crate::args::List;
use crate::output::Output;
use anyhow::Result;
use metier_catalog::{Cost, Entry, EntryId, Origin, Provenance, Relation, Snapshot, State};
use metier_diagnostic::{Diagnostic, JsonDiagnostic};
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use std::borrow::Cow;

#[derive(Serialize)]
struct Listing<'a> {
    loaded: usize,
    failed: usize,
    skills: Skills<'a>,
    failures: Vec<JsonDiagnostic<'a>>,
    /// What is odd about places, configuration and trust.
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

/// The skills, written one by one: none of them is held in memory twice.
struct Skills<'a> {
    args: &'a List,
    snapshot: &'a Snapshot,
}

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

pub(super) fn write(args: &List, snapshot: &Snapshot, output: &mut Output) -> Result<()> {
    let failures = snapshot.failures();
    output.json(&Listing {
        loaded: snapshot.loaded(),
        failed: failures.len(),
        skills: Skills { args, snapshot },
        failures: failures.iter().filter_map(|failure| failure.reason()).map(JsonDiagnostic::from).collect(),
        diagnostics: all(snapshot.diagnostics()),
    })?;
    Ok(())
}

fn all(diagnostics: &[Diagnostic]) -> Vec<JsonDiagnostic<'_>> {
    diagnostics.iter().map(JsonDiagnostic::from).collect()
}

impl Serialize for Skills<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for (id, entry) in self.snapshot.entries().filter(|(_, entry)| is_listed(entry, self.args)) {
            list.serialize_element(&self.skill(id, entry))?;
        }
        list.end()
    }
}

impl<'a> Skills<'a> {
    fn skill(&self, id: EntryId, entry: &'a Entry) -> Skill<'a> {
        let snapshot = self.snapshot;
        let extras = Extras::of(self.args, snapshot, id, entry);
        let shadowed_by = match entry.relation() {
            Relation::ShadowedBy(id) => snapshot.entry(id).map(|winner| path(snapshot, winner)),
            _ => None,
        };
        Skill {
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
