//! What has changed since a project was trusted.

use super::Standing;
use super::entry::TrustEntry;
use super::item::TrustItem;
use super::preview::Preview;
use super::project_trust::{Known, ProjectTrust};
use crate::code;
use crate::entry::Entry;
use crate::origin::Class;
use crate::snapshot::Snapshot;
use metier_diagnostic::Diagnostic;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many changes are named in one line. The rest is counted, and `metier trust --diff` shows it.
const MAX_NAMED: usize = 5;

/// What has changed since a project was trusted. What is added or changed is not used until it is trusted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TrustDiff {
    /// Things that were not there.
    pub added: Vec<TrustItem>,
    /// Things that are other than they were.
    pub changed: Vec<TrustItem>,
    /// Things that are gone. They need no approval.
    pub removed: Vec<TrustEntry>,
    /// Whether an older metier recorded the trust, and so could not record all of this.
    pub older_record: bool,
}

impl TrustDiff {
    /// Compares what a project switches on with what was trusted. Nothing for a project that the user writes; everything is
    /// added in one that is not trusted.
    pub fn of(preview: &Preview, trust: &ProjectTrust) -> Self {
        let mut diff = Self { older_record: trust.is_from_older(), ..Self::default() };
        if trust.standing() == Standing::Mine {
            return diff;
        }
        for item in preview.all_items().filter(|item| !trust.allows_item(item)) {
            match trust.known(&item.entry) {
                Known::Changed => diff.changed.push(item.clone()),
                Known::New | Known::Same => diff.added.push(item.clone()),
            }
        }
        let is_there = |entry: &TrustEntry| {
            preview.items().any(|item| item.entry.kind == entry.kind && item.entry.name == entry.name)
        };
        let gone = trust.entries().filter(|entry| preview.could_see(entry) && !is_there(entry));
        diff.removed = gone.cloned().collect();
        diff
    }

    /// What trusting the project would switch on: what is added, and what is changed.
    pub fn pending(&self) -> impl Iterator<Item = &TrustItem> {
        self.added.iter().chain(&self.changed)
    }

    /// Whether nothing is pending.
    pub fn is_settled(&self) -> bool {
        self.pending().next().is_none()
    }

    /// One line for commands that run something in the project; `None` where nothing is pending.
    pub fn line(&self) -> Option<String> {
        let count = self.pending().count();
        if count == 0 {
            return None;
        }
        let named = self.pending().take(MAX_NAMED).map(|item| match item.entry.name.place.as_str() {
            "" => item.what.clone(),
            place => format!("{} ({})", item.what, super::item::shown(place)),
        });
        let mut named = named.collect::<Vec<_>>().join(", ");
        if count > MAX_NAMED {
            named.push_str(&format!(" and {} more", count - MAX_NAMED));
        }
        let (things, are) = if count == 1 { ("thing", "is") } else { ("things", "are") };
        let since = if self.older_record {
            "changed since you trusted it, or could not be recorded by the older metier that you trusted it with,"
        } else {
            "changed since you trusted it"
        };
        Some(format!(
            "{count} {things} in this project {since} and {are} not used: {named}. Review: `metier trust --diff`"
        ))
    }
}

/// A skill, or a file of the project, that switches on other things than when the project was trusted.
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
            .help("look at it with `metier trust --diff`, then `metier trust` again")
    }

    fn of(subject: &str, path: PathBuf, items: &[TrustItem], trust: &ProjectTrust) -> Option<Self> {
        let waits = items.iter().filter(|item| !trust.allows_item(item));
        let changes = waits.map(|item| match trust.known(&item.entry) {
            _ if item.is_absence => format!("{} is gone", item.what),
            Known::Changed => format!("{} changed", item.what),
            Known::New | Known::Same => format!("{} is new", item.what),
        });
        let changes: Vec<String> = changes.collect();
        (!changes.is_empty()).then(|| Self { subject: subject.to_owned(), path, changes })
    }
}

impl Snapshot {
    /// Every skill and file of the project that switches on other things than when it was trusted; nothing for a project
    /// that is not trusted or that the user writes.
    pub fn trust_changes(&self) -> Vec<TrustChange> {
        let trust = &self.layout().trust;
        let Some(preview) = Preview::of(self.layout()).filter(|_| trust.standing() == Standing::Trusted)
        else {
            return Vec::new();
        };
        let skills = preview.skills.iter().map(|skill| (&skill.name, &skill.path, &*skill.acts));
        let files = preview.files.iter().map(|file| (&file.path, &file.path, &*file.acts));
        let links = preview.links.iter().map(|item| {
            let place = &item.entry.name.place;
            (place, place, std::slice::from_ref(item))
        });
        let all = skills.chain(files).chain(links);
        all.filter_map(|(subject, path, items)| {
            TrustChange::of(subject, preview.project.join(path), items, trust)
        })
        .collect()
    }

    /// What one skill of the project can do that it could not when the project was trusted.
    pub fn trust_change(&self, entry: &Entry) -> Option<TrustChange> {
        let trust = &self.layout().trust;
        if self.root(entry).origin.class != Class::Project || trust.standing() != Standing::Trusted {
            return None;
        }
        let items = self.trust_items(entry, &self.capabilities(entry));
        TrustChange::of(entry.name().as_str(), self.folder(entry), &items, trust)
    }
}
