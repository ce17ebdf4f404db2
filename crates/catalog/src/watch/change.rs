//! What is other in one snapshot than in the one before it.

use crate::code;
use crate::entry::{Entry, State};
use crate::place::below;
use crate::root::Root;
use crate::snapshot::{Failure, Snapshot};
use metier_diagnostic::Diagnostic;
use metier_files::DocumentName;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

metier_diagnostic::words! {
    /// What became of a skill.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ChangeKind {
        /// It is new.
        Added = "added",
        /// It is gone.
        Removed = "removed",
        /// Its file was written, or its state is another one.
        Changed = "changed",
        /// Its file does not load any more, or never did. What loaded before is kept as it was.
        Broken = "broken",
        /// Its file loads again.
        Mended = "mended",
    }
}

/// A change of one skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What became of it.
    pub kind: ChangeKind,
    /// The name it is called by; that of its folder where it never loaded.
    pub name: String,
    /// Its `SKILL.md`, absolute, also where that is gone.
    pub path: PathBuf,
    /// How it stands now; `None` where it is gone or never loaded.
    pub state: Option<State>,
    /// Why it is broken.
    pub reason: Option<Diagnostic>,
}

/// Everything that is other, what is gone first, else in the order of the new snapshot. A skill in `touched`, by its
/// folder, counts as changed even if all that a snapshot holds of it is the same: its body may be another.
pub(super) fn changes(before: &Snapshot, now: &Snapshot, touched: &HashSet<PathBuf>) -> Vec<Change> {
    let mut old: HashMap<_, _> = ordered(before).map(|(at, skill)| (at.key(), skill)).collect();
    let written = keys(touched, now);
    let mut new = Vec::new();
    for (at, skill) in ordered(now) {
        let kind = match old.remove(&at.key()) {
            Some(old) => compare(&old, &skill).or_else(|| {
                let is_written = skill.reason().is_none() && written.contains(&at.key());
                is_written.then_some(ChangeKind::Changed)
            }),
            None => Some(if skill.reason().is_some() { ChangeKind::Broken } else { ChangeKind::Added }),
        };
        new.extend(kind.map(|kind| skill.change(kind, at)));
    }
    // What is left of the old ones is gone; they are told in their own order and not in that of a map.
    let gone = ordered(before).filter(|(at, _)| !old.is_empty() && old.contains_key(&at.key()));
    let mut changes: Vec<Change> = gone.map(|(at, skill)| skill.removed(at)).collect();
    changes.extend(new);
    changes
}

/// A root and a folder in it: what a skill is known by.
#[derive(Clone, Copy)]
struct At<'a> {
    root: &'a Path,
    folder: &'a Path,
}

impl<'a> At<'a> {
    /// The same as text, which is hashed in a fraction of the time: a path is hashed part by part.
    fn key(self) -> (&'a OsStr, &'a OsStr) {
        (self.root.as_os_str(), self.folder.as_os_str())
    }
}

/// The keys of folders that are given whole, so that no path has to be made for each skill.
fn keys<'a>(folders: &'a HashSet<PathBuf>, snapshot: &'a Snapshot) -> HashSet<(&'a OsStr, &'a OsStr)> {
    let roots = snapshot.layout().roots.iter();
    let in_root = |root: &'a Root| {
        let inside = folders.iter().filter_map(|folder| folder.strip_prefix(&root.path).ok());
        inside.map(|folder| At { root: &root.path, folder }.key())
    };
    roots.flat_map(in_root).collect()
}

enum Skill<'a> {
    Loaded(&'a Entry),
    Failed(&'a Failure),
}

fn ordered(snapshot: &Snapshot) -> impl Iterator<Item = (At<'_>, Skill<'_>)> {
    let roots = &snapshot.layout().roots;
    let loaded = snapshot.entries.iter();
    let loaded = loaded.map(|entry| {
        (At { root: &roots[entry.root as usize].path, folder: &entry.folder }, Skill::Loaded(entry))
    });
    let failed = snapshot.failures.iter();
    let failed = failed.map(|failure| {
        (At { root: &roots[failure.root].path, folder: &failure.folder }, Skill::Failed(failure))
    });
    loaded.chain(failed)
}

fn compare(old: &Skill<'_>, new: &Skill<'_>) -> Option<ChangeKind> {
    match (old, new) {
        (Skill::Loaded(old), Skill::Loaded(new)) => {
            let is_same = Arc::ptr_eq(&old.card, &new.card) || old.card == new.card;
            match (kept(old), kept(new)) {
                (None, Some(_)) => Some(ChangeKind::Broken),
                (Some(_), None) => Some(ChangeKind::Mended),
                (Some(old), Some(new)) if old != new => Some(ChangeKind::Broken),
                _ if is_same && old.state == new.state => None,
                _ => Some(ChangeKind::Changed),
            }
        }
        (Skill::Failed(_), Skill::Loaded(_)) => Some(ChangeKind::Mended),
        (Skill::Loaded(_), Skill::Failed(_)) => Some(ChangeKind::Broken),
        (Skill::Failed(old), Skill::Failed(new)) => {
            (old.reason() != new.reason()).then_some(ChangeKind::Broken)
        }
    }
}

/// Why the last good version of a skill was kept.
fn kept(entry: &Entry) -> Option<&Diagnostic> {
    entry.card.diagnostics.iter().find(|found| found.code == &code::KEPT_LAST_GOOD)
}

impl Skill<'_> {
    fn reason(&self) -> Option<&Diagnostic> {
        match self {
            Skill::Loaded(entry) => kept(entry),
            Skill::Failed(failure) => failure.reason(),
        }
    }

    fn change(&self, kind: ChangeKind, at: At<'_>) -> Change {
        let folder = below(at.root, at.folder);
        let own = || folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (name, state, document) = match self {
            Skill::Loaded(entry) => {
                (entry.name().to_string(), Some(entry.state()), entry.card.document_name.as_str())
            }
            Skill::Failed(_) => (own(), None, DocumentName::CANONICAL),
        };
        let reason = if kind == ChangeKind::Broken { self.reason().cloned() } else { None };
        Change { kind, name, path: folder.join(document), state, reason }
    }

    fn removed(&self, at: At<'_>) -> Change {
        Change { state: None, ..self.change(ChangeKind::Removed, at) }
    }
}
