//! The listing for programs: `{"loaded", "failed", "skills", "failures", "diagnostics"}`. Its keys are documented and stable.
//!
//! What every skill has is written by hand, and diagnostics are, since there may be tens of thousands of both; what few
//! skills have goes through serde.

use super::{Extras, is_listed};
use crate::args::List;
use crate::json_text::{self, push_number, push_text};
use crate::output::Output;
use anyhow::Result;
use metier_catalog::{Entry, EntryId, Failure, Relation, Root, Snapshot};
use metier_diagnostic::{Diagnostic, JsonDiagnostic};
use serde::Serialize;
use std::path::Path;

/// How much is collected before it is passed on. It stays in the cache and is used again and again.
const MAX_CHUNK: usize = crate::output::WRITTEN_AT_ONCE;

pub(super) fn write(args: &List, snapshot: &Snapshot, output: &mut Output) -> Result<()> {
    let (loaded, failed) = (snapshot.loaded(), snapshot.failures().len());
    let mut json = Vec::with_capacity(MAX_CHUNK + MAX_CHUNK / 4);
    json.extend_from_slice(format!("{{\"loaded\":{loaded},\"failed\":{failed},\"skills\":[").as_bytes());
    let mut is_first = true;
    let mut root: Option<RootText<'_>> = None;
    for (id, entry) in snapshot.entries().filter(|(_, entry)| is_listed(entry, args)) {
        if !std::mem::take(&mut is_first) {
            json.push(b',');
        }
        let root = match root.take().filter(|text| std::ptr::eq(text.root, snapshot.root(entry))) {
            Some(same) => root.insert(same),
            None => root.insert(RootText::new(snapshot.root(entry))?),
        };
        push_skill(&mut json, args, snapshot, root, (id, entry))?;
        if json.len() >= MAX_CHUNK {
            output.raw(&json)?;
            json.clear();
        }
    }
    json.extend_from_slice(b"],\"failures\":");
    push_diagnostics(&mut json, snapshot.failures().iter().filter_map(Failure::reason));
    json.extend_from_slice(b",\"diagnostics\":");
    push_diagnostics(&mut json, snapshot.diagnostics());
    json.extend_from_slice(b"}\n");
    output.raw(&json)?;
    Ok(())
}

/// What all skills of a root have in common, as JSON.
struct RootText<'a> {
    root: &'a Root,
    origin: Vec<u8>,
    /// The path without its last quote; `None` where it is not text.
    path: Option<Vec<u8>>,
}

impl<'a> RootText<'a> {
    fn new(root: &'a Root) -> Result<Self> {
        let path = root.path.to_str().map(|path| {
            let mut json = Vec::new();
            push_text(&mut json, path);
            json.pop();
            json
        });
        Ok(Self { root, origin: serde_json::to_vec(&root.origin)?, path })
    }
}

fn push_skill(
    json: &mut Vec<u8>,
    args: &List,
    snapshot: &Snapshot,
    root: &RootText<'_>,
    (id, entry): (EntryId, &Entry),
) -> Result<()> {
    json.extend_from_slice(b"{\"name\":");
    push_text(json, entry.call_name());
    json.extend_from_slice(b",\"description\":");
    push_text(json, entry.description());
    json.extend_from_slice(b",\"version\":");
    match entry.version_text() {
        Some(version) => push_text(json, &version),
        None => json.extend_from_slice(b"null"),
    }
    json.extend_from_slice(b",\"origin\":");
    json.extend_from_slice(&root.origin);
    json.extend_from_slice(b",\"path\":");
    push_path(json, snapshot, root, entry);
    json.extend_from_slice(b",\"state\":");
    push_text(json, entry.state().word());
    push_rare(json, args, snapshot, id, entry)?;
    json.extend_from_slice(b",\"diagnostics\":");
    push_diagnostics(json, entry.diagnostics());
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
        json_text::write(json, &value)?;
    }
    Ok(())
}

fn push_diagnostics<'a>(json: &mut Vec<u8>, diagnostics: impl IntoIterator<Item = &'a Diagnostic>) {
    json.push(b'[');
    for (at, diagnostic) in diagnostics.into_iter().enumerate() {
        if at > 0 {
            json.push(b',');
        }
        push_diagnostic(json, &JsonDiagnostic::from(diagnostic));
    }
    json.push(b']');
}

/// A diagnostic as its own type would write it.
fn push_diagnostic(json: &mut Vec<u8>, diagnostic: &JsonDiagnostic<'_>) {
    // All fields are named, so that a new one cannot be forgotten here.
    let JsonDiagnostic { path, code, severity, line, column, message, help, notes } = diagnostic;
    json.extend_from_slice(b"{\"path\":");
    push_or_null(json, path.as_deref(), push_text);
    json.extend_from_slice(b",\"code\":");
    push_text(json, code);
    json.extend_from_slice(b",\"severity\":");
    push_text(json, severity.word());
    json.extend_from_slice(b",\"line\":");
    push_or_null(json, *line, push_number);
    json.extend_from_slice(b",\"column\":");
    push_or_null(json, *column, push_number);
    json.extend_from_slice(b",\"message\":");
    push_text(json, message);
    json.extend_from_slice(b",\"help\":");
    push_or_null(json, *help, push_text);
    if !notes.is_empty() {
        json.extend_from_slice(b",\"notes\":[");
        for (at, note) in notes.iter().enumerate() {
            if at > 0 {
                json.push(b',');
            }
            push_text(json, note);
        }
        json.push(b']');
    }
    json.push(b'}');
}

fn push_or_null<T>(json: &mut Vec<u8>, value: Option<T>, push: impl FnOnce(&mut Vec<u8>, T)) {
    match value {
        Some(value) => push(json, value),
        None => json.extend_from_slice(b"null"),
    }
}

/// The path in its parts, which need not be put together for this.
fn push_path(json: &mut Vec<u8>, snapshot: &Snapshot, root: &RootText<'_>, entry: &Entry) {
    let [_, folder, document] = snapshot.document_parts(entry).map(Path::to_str);
    let (Some(root), Some(folder), Some(document)) = (&root.path, folder, document) else {
        return push_text(json, &path(snapshot, entry));
    };
    json.extend_from_slice(root);
    for part in [folder, document].into_iter().filter(|part| !part.is_empty()) {
        let at = json.len();
        push_text(json, part);
        // Its first quote makes room for the slash, and its last one ends with the path.
        json[at] = b'/';
        json.pop();
    }
    json.push(b'"');
}

fn path(snapshot: &Snapshot, entry: &Entry) -> String {
    let path = snapshot.document_path(entry).into_os_string();
    path.into_string().unwrap_or_else(|path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_diagnostic::{Code, Severity, Span};
    use std::sync::Arc;

    static ODD: Code = Code::new("odd", Severity::Warning, "Odd.");

    #[test]
    fn a_diagnostic_is_what_serde_writes() {
        let bare = Diagnostic::new(&ODD, "a \"message\"\nin two lines");
        let placed = bare.clone().at(Span::new(3, 4), "ab\ncd").in_file(&Arc::from(Path::new("/a \\ b/ö")));
        let helped = placed.clone().help("do `this`");
        let noted = helped.clone().note("one").note("two\t").with_severity(Severity::Error);
        let all = [bare, placed, helped, noted];
        let mut json = Vec::new();
        push_diagnostics(&mut json, &all);
        let expected: Vec<_> = all.iter().map(JsonDiagnostic::from).collect();
        assert_eq!(String::from_utf8(json).unwrap(), serde_json::to_string(&expected).unwrap());
    }
}
