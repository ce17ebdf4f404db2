//! Brings a selection of changes into the project, or takes it back.

mod step;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::fs::syncfs;

use self::step::Failed;
pub(crate) use self::step::Places;
use crate::change::ChangeSet;
use crate::error::{ApplyError, Conflict, ConflictReason, LayerError};
use crate::journal::{Journal, Step};
use crate::layer::{APPLIED, CHANGES, JOURNAL, Layer, now};
use crate::path::LayerPath;
use crate::plan::{Plan, plan};

/// A journal that is complete and not begun yet.
const DRAFT: &str = "journal.draft";
/// The journal of an undo.
pub(crate) const UNDO: &str = "undo.json";

/// What was applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// How many steps it took; a new folder with everything in it is one.
    pub steps: usize,
    /// What was selected and depends on a change that was not: a folder cannot be deleted while something in it stays.
    pub left_out: Vec<LayerPath>,
}

/// Applies the selected changes: all of them, or none where one cannot be.
///
/// What was in their place is kept beside the layer, for [`undo`].
pub fn apply(
    layer: &Layer,
    changes: &ChangeSet,
    selected: &BTreeSet<LayerPath>,
) -> Result<Applied, ApplyError> {
    let conflicts = known_conflicts(changes, selected);
    if !conflicts.is_empty() {
        return Err(ApplyError::Conflicts(conflicts));
    }
    let Plan { steps, left_out } = plan(changes, selected);
    let applied = Applied { steps: steps.len(), left_out };
    if steps.is_empty() {
        return Ok(applied);
    }
    let places = Places::open(layer)?;
    let conflicts: Vec<Conflict> =
        steps.iter().filter_map(|step| places.conflict(step).transpose()).collect::<Result<_, _>>()?;
    if !conflicts.is_empty() {
        return Err(ApplyError::Conflicts(conflicts));
    }
    places.clean(changes, selected)?;
    // The new content is on the disk before a name in the project leads to it.
    sync(layer)?;
    let journal = Journal { steps };
    layer.write(DRAFT, &journal)?;
    layer.turn(DRAFT, JOURNAL)?;
    finish(layer, &places, &journal)?;
    Ok(applied)
}

/// Takes the steps of a journal, from wherever an earlier attempt stopped. Where one cannot be taken, takes all of them
/// back.
pub(crate) fn finish(layer: &Layer, places: &Places, journal: &Journal) -> Result<(), ApplyError> {
    for (at, step) in journal.steps.iter().enumerate() {
        if let Err(failed) = places.take(step) {
            take_back(layer, places, &journal.steps[..=at])?;
            layer.turn(JOURNAL, CHANGES_FAILED)?;
            return Err(match failed {
                Failed::Conflict(conflict) => ApplyError::Conflicts(vec![conflict]),
                Failed::Io { path, source } => ApplyError::Io { path, source },
            });
        }
    }
    sync(layer)?;
    layer.turn(JOURNAL, APPLIED)?;
    wait_for_next_tick(layer)
}

/// A journal that was taken back, for whoever wants to know what happened.
const CHANGES_FAILED: &str = "journal.failed";

fn take_back(layer: &Layer, places: &Places, steps: &[Step]) -> Result<(), ApplyError> {
    for step in steps.iter().rev() {
        places.take_back(step).map_err(|source| ApplyError::Stuck {
            path: step.path().clone(),
            source,
            kept: layer.folder().to_owned(),
        })?;
    }
    Ok(())
}

/// Takes an applied set back. Nothing happens where another program has changed one of its files since.
pub fn undo(layer: &Layer) -> Result<(), ApplyError> {
    let Some(journal) = layer.read::<Journal>(APPLIED)? else { return Ok(()) };
    let changes: ChangeSet = layer.read(CHANGES)?.unwrap_or_default();
    let places = Places::open(layer)?;
    let conflicts = places.changed_since(&journal, &changes)?;
    if !conflicts.is_empty() {
        return Err(ApplyError::Conflicts(conflicts));
    }
    layer.turn(APPLIED, UNDO)?;
    finish_undo(layer, &places, &journal)
}

/// Takes all steps of a journal back, from wherever an earlier attempt stopped.
pub(crate) fn finish_undo(layer: &Layer, places: &Places, journal: &Journal) -> Result<(), ApplyError> {
    take_back(layer, places, &journal.steps)?;
    sync(layer)?;
    layer.turn(UNDO, CHANGES_UNDONE)?;
    wait_for_next_tick(layer)
}

/// The journal of a set that was taken back.
const CHANGES_UNDONE: &str = "journal.undone";

/// What the scan found to be changed by another program.
fn known_conflicts(changes: &ChangeSet, selected: &BTreeSet<LayerPath>) -> Vec<Conflict> {
    let of = |change: &crate::change::Change| -> Option<Conflict> {
        let reason: ConflictReason = change.conflict?;
        selected.contains(&change.path).then(|| Conflict { path: change.path.clone(), reason })
    };
    changes.entries.iter().filter_map(of).collect()
}

fn sync(layer: &Layer) -> Result<(), LayerError> {
    let folder = std::fs::File::open(layer.folder()).map_err(LayerError::io("open", layer.folder()))?;
    syncfs(folder.as_fd()).map_err(|error| LayerError::io("sync", layer.folder())(error.into()))
}

/// Renaming changes a file's change time. A call that begins within the same tick of the file system's clock would take
/// what was just applied for another program's work.
fn wait_for_next_tick(layer: &Layer) -> Result<(), ApplyError> {
    let read = || now(layer.folder()).map_err(LayerError::io("write to", layer.folder()));
    let applied = read()?;
    while read()? <= applied {
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(())
}
