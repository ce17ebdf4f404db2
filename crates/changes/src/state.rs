//! What became of a layer's changes. Each state is the name of a file, so that it changes by one rename.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::change::{Change, ChangeSet};
use crate::error::LayerError;
use crate::journal::Journal;
use crate::layer::{CHANGES, Layer, read_optional};
use crate::origin::{CallOrigin, unix_millis};
use crate::path::LayerPath;

/// What is being applied. While it is there, the project may be half old and half new.
pub(crate) const JOURNAL: &str = "journal.json";
/// What is being taken back at a person's wish.
pub(crate) const UNDO: &str = "undo.json";
/// What could not be applied and was taken back.
pub(crate) const TAKEN_BACK: &str = "taken-back.json";
/// The decision against the changes.
const DISCARDED: &str = "discarded.json";

/// The name of a journal that was applied.
pub(crate) fn applied_name(number: u32) -> String {
    format!("applied-{number}.json")
}

/// The name of a journal that was undone.
pub(crate) fn undone_name(number: u32) -> String {
    format!("undone-{number}.json")
}

/// What became of a layer's changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerState {
    /// The call is not over, or its process was killed and [`LayerStore::recover`](crate::LayerStore::recover) has not
    /// looked at it yet.
    Running,
    /// Changes wait for a decision. They are kept until there is one.
    Pending,
    /// A decision is being carried out.
    Applying,
    /// Everything that was selected is in the project, and nothing waits.
    Applied,
    /// A person or a rule decided against the changes. They are kept for a while.
    Discarded,
    /// They were in the project, and a person took them back.
    Undone,
    /// Applying failed, and everything was taken back. They can be applied again.
    TakenBack,
}

impl LayerState {
    /// The word for people and scripts.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Pending => "pending",
            Self::Applying => "applying",
            Self::Applied => "applied",
            Self::Discarded => "discarded",
            Self::Undone => "undone",
            Self::TakenBack => "taken-back",
        }
    }

    /// Whether the layer may be removed once it is old: no decision is missing.
    pub(crate) const fn is_over(self) -> bool {
        matches!(self, Self::Applied | Self::Discarded | Self::Undone)
    }
}

/// A row in the list of layers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayerRecord {
    /// What it is called.
    pub id: String,
    /// The project it lies on.
    pub project: std::path::PathBuf,
    /// The call it was made for.
    pub origin: CallOrigin,
    /// What became of it.
    pub state: LayerState,
    /// How many paths are in the project.
    pub applied: usize,
    /// How many paths are not.
    pub pending: usize,
    /// When a part of it, or all of it, was applied last, in milliseconds since 1970; `None` where nothing of it is in the
    /// project.
    pub applied_at: Option<u64>,
}

/// What the files of a layer's folder say.
pub(crate) struct Standing {
    pub(crate) state: LayerState,
    /// The scan's result; `None` while the call runs.
    pub(crate) changes: Option<ChangeSet>,
    /// The journals that were applied and not undone, in their order.
    pub(crate) applied: Vec<Journal>,
}

impl Standing {
    pub(crate) fn read(folder: &Path) -> Result<Self, LayerError> {
        let mut applied = Vec::new();
        // What was taken back was decided. What nobody decided about waits, whatever became of the rest.
        let mut taken_back: Vec<Journal> = Vec::new();
        let mut undone = false;
        let mut next = 1;
        loop {
            if let Some(journal) = read_optional::<Journal>(&folder.join(applied_name(next)))? {
                applied.push(journal);
                undone = false;
            } else if let Some(journal) = read_optional(&folder.join(undone_name(next)))? {
                taken_back.push(journal);
                undone = true;
            } else {
                break;
            }
            next += 1;
        }
        // It is not synced. What a stop of the machine left half is found by another scan.
        let changes: Option<ChangeSet> = match read_optional(&folder.join(CHANGES)) {
            Err(LayerError::Record { .. }) => None,
            changes => changes?,
        };
        let has = |name: &str| folder.join(name).exists();
        let mut standing = Self { state: LayerState::Running, changes, applied };
        let pending = standing.pending().unwrap_or_default();
        let waits = !pending.is_empty();
        let is_decided = |change: &Change| taken_back.iter().any(|journal| journal.has(&change.path));
        let is_undone = undone && pending.entries.iter().all(is_decided);
        standing.state = if has(JOURNAL) || has(UNDO) {
            LayerState::Applying
        } else if standing.changes.is_none() {
            LayerState::Running
        } else if has(DISCARDED) {
            LayerState::Discarded
        } else if has(TAKEN_BACK) {
            LayerState::TakenBack
        } else if is_undone {
            LayerState::Undone
        } else if standing.applied.is_empty() || waits {
            LayerState::Pending
        } else {
            LayerState::Applied
        };
        Ok(standing)
    }

    /// The changes that are not in the project; `None` while the call runs.
    pub(crate) fn pending(&self) -> Option<ChangeSet> {
        let outcomes = self.applied.iter().flat_map(|journal| &journal.paths);
        let applied: BTreeSet<&LayerPath> = outcomes.map(|outcome| &outcome.path).collect();
        let mut pending = self.changes.clone()?;
        pending.entries.retain(|change| !applied.contains(&change.path));
        // What can never be applied waits for nothing.
        if !applied.is_empty() && pending.entries.is_empty() {
            pending.refused.clear();
        }
        Some(pending)
    }

    pub(crate) fn count_applied(&self) -> usize {
        self.applied.iter().map(|journal| journal.paths.len()).sum()
    }
}

impl Layer {
    /// The number for the next journal.
    pub(crate) fn next_number(&self) -> u32 {
        self.last_journal().map_or(1, |(number, _)| number.saturating_add(1))
    }

    /// The number of the last journal that was applied or undone, and that of the last one that is applied still.
    pub(crate) fn last_journal(&self) -> Option<(u32, Option<u32>)> {
        let has = |name: String| self.folder().join(name).exists();
        let mut last = None;
        for number in 1..u32::MAX {
            let applied = last.and_then(|(_, applied)| applied);
            if has(applied_name(number)) {
                last = Some((number, Some(number)));
            } else if has(undone_name(number)) {
                last = Some((number, applied));
            } else {
                break;
            }
        }
        last
    }

    /// What became of its changes.
    pub fn state(&self) -> Result<LayerState, LayerError> {
        Standing::read(self.folder()).map(|standing| standing.state)
    }

    /// Everything that the scan found, applied or not; empty before the scan.
    pub fn changes(&self) -> Result<ChangeSet, LayerError> {
        Ok(Standing::read(self.folder())?.changes.unwrap_or_default())
    }

    /// The changes that are not in the project, as the scan found them; empty before the scan.
    pub fn pending(&self) -> Result<ChangeSet, LayerError> {
        Ok(Standing::read(self.folder())?.pending().unwrap_or_default())
    }

    /// Notes that its changes are not wanted. They are kept for a while and can still be applied. It is an error where all of them are
    /// in the project: another process may have applied them since they were listed.
    pub fn discard(&self) -> Result<(), LayerError> {
        if self.state()? == LayerState::Applied {
            return Err(LayerError::Applied { id: self.id() });
        }
        self.write(DISCARDED, &unix_millis())
    }

    /// Notes that a new attempt is made.
    pub(crate) fn reconsider(&self) -> Result<(), LayerError> {
        for name in [DISCARDED, TAKEN_BACK] {
            let path = self.folder().join(name);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(LayerError::io("remove", path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
