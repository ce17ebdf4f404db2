//! Changes as JSON has them.

use serde::Serialize;

use crate::change::{Change, ChangeKind, ChangeSet, EntryKind};
use crate::path::LayerPath;

/// One change without what only applying needs, as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedChange<'a> {
    /// Where.
    pub path: &'a LayerPath,
    /// What happened.
    pub kind: ChangeKind,
    /// What is there afterwards; `null` for what was deleted.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub entry: Option<ListedEntry>,
    /// The name it had, if it was probably renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<&'a LayerPath>,
    /// In which way another program changed it meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict: Option<crate::ConflictReason>,
}

/// What a path holds, as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedEntry {
    /// File, folder or link.
    pub entry: EntryKind,
    /// In bytes; zero for a folder.
    pub size: u64,
    /// Of a file's content or a link's target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The permissions, in octal.
    pub mode: String,
}

impl ChangeSet {
    /// The changes as JSON has them.
    pub fn listed(&self) -> Vec<ListedChange<'_>> {
        self.entries.iter().map(listed).collect()
    }
}

fn listed(change: &Change) -> ListedChange<'_> {
    let entry = change.entry.as_ref().map(|entry| ListedEntry {
        entry: entry.kind,
        size: entry.size,
        digest: entry.digest.map(|digest| digest.to_string()),
        mode: format!("{:04o}", entry.mode),
    });
    ListedChange {
        path: &change.path,
        kind: change.kind,
        entry,
        renamed_from: change.renamed_from.as_ref(),
        conflict: change.conflict,
    }
}
