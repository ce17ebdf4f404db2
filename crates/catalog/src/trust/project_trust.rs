//! How far the project at hand is trusted: which of its things may take effect.

use super::entry::{TrustEntry, TrustKind};
use super::item::TrustItem;
use super::legacy;
use super::{ProjectRecord, Standing};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// What the user has said about the project at hand.
#[derive(Clone, Debug, Default)]
pub struct ProjectTrust {
    record: Option<Arc<Recorded>>,
}

#[derive(Debug)]
struct Recorded {
    record: ProjectRecord,
    entries: BTreeSet<TrustEntry>,
}

/// How a thing is to the record of trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was there, just so.
    Same,
    /// Something of its kind and name was there.
    Changed,
    /// Nothing of its kind and name was there.
    New,
}

impl ProjectTrust {
    pub(crate) fn of(record: Option<&ProjectRecord>) -> Self {
        let record = record.map(|record| {
            let entries = record.entries.iter().flatten().cloned().collect();
            Arc::new(Recorded { record: record.clone(), entries })
        });
        Self { record }
    }

    /// Trust in everything, as in a project that the user writes.
    pub(crate) fn in_everything(project: &Path) -> Self {
        let (path, trusted) = (project.to_owned(), String::new());
        let (skills, files) = Default::default();
        Self::of(Some(&ProjectRecord { path, trusted, mine: true, entries: None, skills, files }))
    }

    /// How far the project as a whole is trusted.
    pub fn standing(&self) -> Standing {
        match &self.record {
            None => Standing::Untrusted,
            Some(recorded) if recorded.record.mine => Standing::Mine,
            Some(_) => Standing::Trusted,
        }
    }

    /// Whether a thing may take effect: it is in the set that the user trusted, or the user writes the project.
    pub fn allows(&self, entry: &TrustEntry) -> bool {
        let Some(recorded) = &self.record else { return false };
        if recorded.record.mine {
            return true;
        }
        // What cannot be read cannot be compared, so it is never what was trusted.
        entry.kind != TrustKind::Unreadable
            && (recorded.entries.contains(entry) || legacy::known(&recorded.record, entry) == Known::Same)
    }

    /// The same for an item, which may stand for something that is gone.
    pub(crate) fn allows_item(&self, item: &TrustItem) -> bool {
        self.allows(&item.entry) || (item.is_absence && self.known(&item.entry) == Known::New)
    }

    pub(super) fn known(&self, entry: &TrustEntry) -> Known {
        if self.allows(entry) {
            return Known::Same;
        }
        let Some(recorded) = &self.record else { return Known::New };
        let is_named = recorded.entries.iter().any(|old| old.kind == entry.kind && old.name == entry.name)
            || legacy::known(&recorded.record, entry) != Known::New;
        if is_named { Known::Changed } else { Known::New }
    }

    /// Everything that was recorded.
    pub(super) fn entries(&self) -> impl Iterator<Item = &TrustEntry> {
        self.record.iter().flat_map(|recorded| &recorded.entries)
    }

    /// Whether an older metier wrote the record, which could not record everything.
    pub fn is_from_older(&self) -> bool {
        self.record
            .as_ref()
            .is_some_and(|recorded| !recorded.record.mine && recorded.record.entries.is_none())
    }
}
