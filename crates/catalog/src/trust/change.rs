//! What has changed since a project was trusted.

use super::preview::{capabilities, key, project_skills};
use super::project_file::{Act, acts_of, project_files};
use super::{Standing, TrustStore};
use crate::capability::Capabilities;
use crate::code;
use crate::entry::Entry;
use crate::project::Project;
use crate::snapshot::Snapshot;
use metier_diagnostic::Diagnostic;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A skill, or a file of the project, that can do other things than when the project was trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrustChange {
    /// The skill's name, or the file's path in the project.
    pub subject: String,
    /// Where it is.
    pub path: PathBuf,
    /// What is new or other, each as a sentence without a full stop.
    pub changes: Vec<String>,
}

impl TrustChange {
    /// The change as a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        let path: Arc<Path> = self.path.as_path().into();
        let message = format!(
            "`{}` has changed since the project was trusted: {}",
            self.subject,
            self.changes.join("; ")
        );
        Diagnostic::new(&code::TRUST_CHANGED, message)
            .in_file(&path)
            .help("look at it with `metier trust --preview`, then `metier trust` again")
    }
}

/// Everything in the project that can do other things than when it was trusted; nothing for a project that is not trusted
/// or that the user writes.
pub fn changes(snapshot: &Snapshot, store: &TrustStore) -> Vec<TrustChange> {
    let Some(project) = snapshot.layout().project.as_ref() else { return Vec::new() };
    let Some(record) = store.record(&project.folder).filter(|record| !record.mine) else { return Vec::new() };
    let skills = project_skills(snapshot).filter_map(|entry| changes_of(snapshot, store, entry));
    let mut all: Vec<TrustChange> = skills.collect();
    for file in project_files(project) {
        let before = record.files.get(&file.path);
        let mut changes = Vec::new();
        for act in &file.acts {
            match before.and_then(|acts| acts.get(&act.what)) {
                None => changes.push(format!("{} is new", act.what)),
                Some(digest) if *digest != act.digest => changes.push(format!("{} changed", act.what)),
                Some(_) => {}
            }
        }
        if !changes.is_empty() {
            let path = project.folder.join(&file.path);
            all.push(TrustChange { subject: file.path, path, changes });
        }
    }
    all
}

/// What a file of a project asks for and may have: what was there when the user trusted the project, and everything in one that the
/// user writes.
pub fn trusted_acts(project: &Project, store: &TrustStore, file: &str) -> BTreeSet<String> {
    let Some(record) = store.record(&project.folder) else { return BTreeSet::new() };
    let known = record.files.get(file);
    let is_known = |act: &Act| record.mine || known.and_then(|acts| acts.get(&act.what)) == Some(&act.digest);
    let files = project_files(project).into_iter().filter(|known| known.path == file);
    files.flat_map(|file| file.acts).filter(is_known).map(|act| act.what).collect()
}

/// Whether what a file says of MCP servers is what stood there when the user trusted the project: an agent's file, a crew's, or that of
/// one server.
pub fn trusts_servers(project: &Project, store: &TrustStore, file: &Path) -> bool {
    let Some(record) = store.record(&project.folder) else { return false };
    let Ok(path) = file.strip_prefix(&project.folder) else { return false };
    let path = path.to_string_lossy();
    let known = record.files.get(path.as_ref());
    let is_known = |act: &Act| known.and_then(|acts| acts.get(&act.what)) == Some(&act.digest);
    record.mine || acts_of(project, &path).iter().filter(|act| act.is_about_servers()).all(is_known)
}

/// What one skill can do that it could not when its project was trusted.
pub fn changes_of(snapshot: &Snapshot, store: &TrustStore, entry: &Entry) -> Option<TrustChange> {
    changes_in(snapshot, store, entry, || capabilities(snapshot, entry))
}

/// The same of a skill that can do `now`, such as a copy of it that is about to run.
pub fn changes_in(
    snapshot: &Snapshot,
    store: &TrustStore,
    entry: &Entry,
    now: impl FnOnce() -> Capabilities,
) -> Option<TrustChange> {
    let project = snapshot.layout().project.as_ref()?;
    if snapshot.root(entry).origin.class != crate::origin::Class::Project
        || store.standing(&project.folder) != Standing::Trusted
    {
        return None;
    }
    let record = store.record(&project.folder)?;
    let none = Capabilities::default();
    let before = record.skills.get(&key(snapshot, entry)).unwrap_or(&none);
    let changes: Vec<_> = before.changes(&now()).iter().map(ToString::to_string).collect();
    if changes.is_empty() {
        return None;
    }
    Some(TrustChange { subject: entry.name().to_string(), path: snapshot.folder(entry), changes })
}
