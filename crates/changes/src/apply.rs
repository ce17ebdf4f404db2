//! Brings a selection of changes into the project, or takes it back.

mod back;
mod open;
mod step;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::syncfs;

use self::open::open_closed;
pub(crate) use self::step::{Places, interruption_point};
use self::step::{check_before, failed};
use crate::beneath::Tree;
use crate::change::{Change, ChangeSet};
use crate::content::digest_at;
use crate::database::changed_databases;
use crate::error::{ApplyError, Conflict, ConflictReason, LayerError};
use crate::journal::{Journal, Outcome, Step};
use crate::layer::{Layer, now};
use crate::mounts::{check_writable, is_other_mount};
use crate::origin::unix_millis;
use crate::path::LayerPath;
use crate::plan::{Plan, plan};
use crate::stage;
use crate::stamp::{Stamp, changed};
use crate::state::{JOURNAL, Standing, TAKEN_BACK, UNDO, applied_name, undone_name};

/// A journal that is complete and not begun yet.
const DRAFT: &str = "complete-journal.json";

/// What was applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// How many steps it took; a new folder with everything in it is one.
    pub steps: usize,
    /// What was selected and could not be applied by itself: it depends on a change that was not selected (a folder cannot
    /// be deleted while something in it stays), or it lies in the session's layer and not in the project.
    pub left_out: Vec<LayerPath>,
}

/// What was taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// Every path that is as it was before, in the order of paths.
    pub paths: Vec<LayerPath>,
    /// How many paths of the layer were applied earlier and are in the project still.
    pub still_applied: usize,
}

/// Applies the selected changes: all of them, or none where one cannot be.
///
/// What was in their place is kept beside the layer, for [`undo`]. The rest of the changes stays in the layer, and can be
/// applied later.
pub fn apply(
    layer: &Layer,
    changes: &ChangeSet,
    selected: &BTreeSet<LayerPath>,
) -> Result<Applied, ApplyError> {
    let conflicts = known_conflicts(changes, selected);
    if !conflicts.is_empty() {
        return Err(ApplyError::Conflicts(conflicts));
    }
    // Before anything is prepared: of what no step could do the kernel would name another reason, or a single file.
    check_writable(layer.project())?;
    let Plan { steps, left_out } = plan(changes, selected);
    let applied = Applied { steps: steps.len(), left_out };
    if steps.is_empty() {
        return Ok(applied);
    }
    let left_out: BTreeSet<&LayerPath> = applied.left_out.iter().collect();
    let chosen: BTreeSet<LayerPath> =
        selected.iter().filter(|path| !left_out.contains(path)).cloned().collect();
    let is_staged = stage::is_needed(layer)?;
    match carry_out(layer, changes, &chosen, steps.clone(), is_staged) {
        // A file system may keep its folders apart inside one mount: by quotas of projects, for example.
        Err(ApplyError::Io { source, .. }) if !is_staged && is_other_mount(&source) => {
            carry_out(layer, changes, &chosen, steps, true)?;
        }
        done => done?,
    }
    Ok(applied)
}

fn carry_out(
    layer: &Layer,
    changes: &ChangeSet,
    chosen: &BTreeSet<LayerPath>,
    steps: Vec<Step>,
    is_staged: bool,
) -> Result<(), ApplyError> {
    let done = match begin(layer, changes, chosen, steps, is_staged) {
        Ok((places, journal)) => finish(layer, &places, &journal),
        Err(error) => {
            stage::clear(layer)?;
            Err(error)
        }
    };
    done.map_err(|error| if is_staged { explain_other_mount(error) } else { error })
}

/// The stage lies in the project's own folder, so only a place in another mount is out of its reach.
fn explain_other_mount(error: ApplyError) -> ApplyError {
    match error {
        ApplyError::Io { path, source } if is_other_mount(&source) => {
            let text = "it lies in another mount or volume than the project's own folder";
            ApplyError::Io { path, source: io::Error::new(source.kind(), text) }
        }
        error => error,
    }
}

/// Makes everything ready for the first step. From its last line on, the journal is finished whatever happens.
fn begin(
    layer: &Layer,
    changes: &ChangeSet,
    chosen: &BTreeSet<LayerPath>,
    mut steps: Vec<Step>,
    is_staged: bool,
) -> Result<(Places, Journal), ApplyError> {
    let number = layer.next_number();
    if is_staged {
        stage::fill(layer, changes, chosen)?;
    }
    let places = Places::open(layer, number)?;
    let conflicts = conflicts_by_now(layer, number, changes, chosen, &steps)?;
    if !conflicts.is_empty() {
        return Err(ApplyError::Conflicts(conflicts));
    }
    open_closed(&places.project, &mut steps)?;
    places.open_folders(&steps)?;
    let paths = places.clean(changes, chosen, &steps, is_staged)?;
    if is_staged {
        rename_stamps(&mut steps, &paths);
    }
    let journal = Journal { number, applied_at: unix_millis(), steps, paths };
    layer.reconsider()?;
    layer.write(DRAFT, &journal)?;
    // The new content and the journal are on the disk before a name in the project leads to it. One call for everything: a
    // sync of each file takes seconds for thousands.
    sync(layer.folder())?;
    if is_staged {
        sync(layer.project())?;
    }
    layer.turn(DRAFT, JOURNAL)?;
    Ok((places, journal))
}

/// What is known to be in the way before the first step. Each step looks again.
fn conflicts_by_now(
    layer: &Layer,
    number: u32,
    changes: &ChangeSet,
    chosen: &BTreeSet<LayerPath>,
    steps: &[Step],
) -> Result<Vec<Conflict>, ApplyError> {
    let project = Tree::open_quiet(layer.project())?;
    let mut conflicts = Vec::new();
    for step in steps {
        match check_before(&project, step) {
            Err(ApplyError::Conflicts(found)) => conflicts.extend(found),
            checked => checked?,
        }
    }
    // An earlier attempt gave the files that it moved a new time, so times say nothing after one.
    let is_first = number == 1 && !layer.folder().join(TAKEN_BACK).exists();
    let is_known: BTreeSet<LayerPath> = conflicts.iter().map(|conflict| conflict.path.clone()).collect();
    for change in changes.entries.iter().filter(|change| chosen.contains(&change.path)) {
        if !is_known.contains(&change.path) && is_edited(&project, change, is_first) {
            conflicts.push(Conflict { path: change.path.clone(), reason: ConflictReason::Changed });
        }
    }
    if let Some(began) = layer.record().began.filter(|_| is_first) {
        let databases = changed_databases(&project, began, chosen.iter());
        let databases = databases.map_err(LayerError::io("read", layer.project()))?;
        let is_new = |path: &LayerPath| !conflicts.iter().any(|conflict| conflict.path == *path);
        let databases: Vec<LayerPath> = databases.into_iter().filter(is_new).collect();
        let conflict = |path| Conflict { path, reason: ConflictReason::Changed };
        conflicts.extend(databases.into_iter().map(conflict));
    }
    Ok(conflicts)
}

/// Whether a file of the project was edited since the scan by a program that kept its size and modification time. Its change time
/// cannot be kept. Other things give it a new one, too: another name for the file, or a set that was applied and undone, so what
/// the file holds decides where that is known.
fn is_edited(project: &Tree, change: &Change, is_first: bool) -> bool {
    let (Some(before), Some(time)) = (change.before, change.before_changed) else { return false };
    // Anything else that happened to it is found by the steps.
    let Ok(Some(found)) = project.stat(&change.path) else { return false };
    if !before.is_unchanged(&Stamp::of(&found)) || changed(&found) == time {
        return false;
    }
    match change.before_digest {
        Some(known) => digest_at(project, &change.path, &found, &mut Vec::new()).ok() != Some(known),
        None => is_first,
    }
}

/// The copies on a stage are other files than those that were scanned.
fn rename_stamps(steps: &mut [Step], paths: &[Outcome]) {
    let copies: BTreeMap<&LayerPath, Stamp> =
        paths.iter().filter_map(|outcome| Some((&outcome.path, outcome.after?))).collect();
    for step in steps {
        if let Step::Place { path, new } | Step::Replace { path, new, .. } = step
            && let Some(copy) = copies.get(path)
        {
            *new = *copy;
        }
    }
}

/// Takes the steps of a journal, from wherever an earlier attempt stopped. Where one cannot be taken, takes all of them
/// back.
pub(crate) fn finish(layer: &Layer, places: &Places, journal: &Journal) -> Result<(), ApplyError> {
    let failure = journal.steps.iter().find_map(|step| places.take(step).err());
    // A program that had a file open may have written to it after it was replaced.
    let failure = failure.or_else(|| journal.steps.iter().find_map(|step| places.written_since(step).err()));
    if let Some(failed) = failure {
        // All of them: an earlier attempt may have come further than this one.
        take_back(places, journal).map_err(|(path, source)| stuck(layer, &path, source))?;
        layer.turn(JOURNAL, TAKEN_BACK)?;
        stage::clear(layer)?;
        return Err(failed);
    }
    sync_stage(layer)?;
    layer.turn(JOURNAL, &applied_name(journal.number))?;
    stage::keep(layer, journal.number)?;
    wait_for_next_tick(layer)
}

/// Takes the steps of a journal back that were taken, the last of them first.
fn take_back(places: &Places, journal: &Journal) -> Result<(), (LayerPath, io::Error)> {
    journal
        .steps
        .iter()
        .rev()
        .try_for_each(|step| places.take_back(journal, step).map_err(|source| (step.path().clone(), source)))
}

fn stuck(layer: &Layer, path: &LayerPath, source: io::Error) -> ApplyError {
    ApplyError::Stuck { path: path.clone(), source, kept: layer.folder().to_owned() }
}

/// Takes back what was applied last from this layer. Nothing happens where another program has changed one of its files since, or
/// has put something into a folder that it made. `None` where nothing was applied.
pub fn undo(layer: &Layer) -> Result<Option<Undone>, ApplyError> {
    let Standing { mut applied, changes, .. } = Standing::read(layer.folder())?;
    let Some(journal) = applied.pop() else { return Ok(None) };
    check_writable(layer.project())?;
    stage::bring_back(layer, journal.number)?;
    stage::check_renames(layer)?;
    let places = Places::open(layer, journal.number)?;
    let conflicts = places.changed_since(&journal, &changes.unwrap_or_default())?;
    if !conflicts.is_empty() {
        stage::clear(layer)?;
        return Err(ApplyError::Conflicts(conflicts));
    }
    sync_stage(layer)?;
    layer.turn(&applied_name(journal.number), UNDO)?;
    finish_undo(layer, &places, &journal)?;
    let still_applied = applied.iter().map(|journal| journal.paths.len()).sum();
    Ok(Some(Undone { paths: journal.paths.into_iter().map(|outcome| outcome.path).collect(), still_applied }))
}

/// Takes all steps of a journal back, from wherever an earlier attempt stopped. Where one cannot be taken back, takes all of
/// them again.
pub(crate) fn finish_undo(layer: &Layer, places: &Places, journal: &Journal) -> Result<(), ApplyError> {
    let taken_back = take_back(places, journal);
    if taken_back.is_err() {
        for step in &journal.steps {
            places.take_again(step).map_err(|source| stuck(layer, step.path(), source))?;
        }
    }
    sync_stage(layer)?;
    let state = if taken_back.is_ok() { undone_name(journal.number) } else { applied_name(journal.number) };
    layer.turn(UNDO, &state)?;
    stage::clear(layer)?;
    wait_for_next_tick(layer)?;
    taken_back.map_err(|(path, source)| failed(&path, source))
}

/// What the scan found to be changed by another program.
fn known_conflicts(changes: &ChangeSet, selected: &BTreeSet<LayerPath>) -> Vec<Conflict> {
    let of = |change: &Change| -> Option<Conflict> {
        let reason = change.conflict.filter(|_| selected.contains(&change.path))?;
        Some(Conflict { path: change.path.clone(), reason })
    };
    changes.entries.iter().filter_map(of).collect()
}

/// Brings a whole file system to the disk.
fn sync(path: &Path) -> Result<(), LayerError> {
    let folder = std::fs::File::open(path).map_err(LayerError::io("open", path))?;
    syncfs(folder.as_fd()).map_err(LayerError::io("sync", path))
}

/// Brings the project to the disk before a record in the layer says what became of it, where the two are on different file systems.
/// On one file system renames reach the disk in their order, so a record is never ahead of the project; one that is behind is
/// finished again.
fn sync_stage(layer: &Layer) -> Result<(), LayerError> {
    if stage::is_needed(layer)? { sync(layer.project()) } else { Ok(()) }
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
