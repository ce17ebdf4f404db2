//! From a selection of changes to the steps that apply it.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::change::{Change, ChangeKind, ChangeSet, EntryKind};
use crate::journal::{Below, Step};
use crate::path::LayerPath;

/// The steps for the selected changes, in an order in which each finds its folder, and the selected changes that cannot be
/// made without one that was not selected.
pub(crate) fn plan(changes: &ChangeSet, selected: &BTreeSet<LayerPath>) -> Plan {
    let (held, entries): (Vec<&Change>, Vec<&Change>) =
        changes.entries.iter().partition(|change| change.in_session);
    // What lies on an entry of the session's layer has nothing to lie on in the project.
    let held = held.iter().map(|change| &change.path).filter(|path| selected.contains(path));
    let plan = Plan { left_out: held.cloned().collect(), ..Plan::default() };
    let kept_out = changes.refused.iter().filter(|refused| refused.is_kept_out());
    let stay = kept_out.map(|refused| &refused.path).chain(&changes.strays).collect();
    let mut planner = Planner { entries: &entries, selected, stay, slot: 0, plan };
    let mut at = 0;
    // The last new folder that stays away: nothing below it has a place to go to.
    let mut missing: Option<&LayerPath> = None;
    while let Some(change) = entries.get(at) {
        at += 1;
        let is_homeless = missing.is_some_and(|folder| change.path.is_below(folder));
        if !selected.contains(&change.path) || is_homeless {
            if selected.contains(&change.path) {
                planner.plan.left_out.push(change.path.clone());
            }
            if change.is_new_folder() && !is_homeless {
                missing = Some(&change.path);
            }
            continue;
        }
        if planner.change(change, at) {
            // It took everything below it along.
            at += below(&entries[at..], &change.path).count();
        }
    }
    sort(&mut planner.plan.steps);
    planner.plan
}

/// Brings steps into the order in which each finds its folder open.
pub(crate) fn sort(steps: &mut [Step]) {
    steps.sort_by(|left, right| {
        let order = phase(left).cmp(&phase(right));
        // Inner folders are closed before outer ones.
        order.then_with(|| if phase(left) == 2 { right.path().cmp(left.path()) } else { Ordering::Equal })
    });
}

/// Whether a step gives a folder permissions with which something can be put into it.
pub(crate) fn opens(step: &Step) -> bool {
    matches!(step, Step::Attributes { old, mode, .. } if old.mode & 0o300 != 0o300 && mode & 0o300 == 0o300)
}

/// When a step has its turn: folders are opened before something is put into them, and closed afterwards.
fn phase(step: &Step) -> u8 {
    match step {
        Step::Open { .. } => 0,
        step if opens(step) => 0,
        Step::Attributes { .. } | Step::Close { .. } => 2,
        _ => 1,
    }
}

/// The changes below a path, of those that follow it.
fn below<'a>(following: &'a [&'a Change], path: &LayerPath) -> impl Iterator<Item = &'a Change> {
    following.iter().copied().take_while(move |change| change.path.is_below(path))
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// What was selected and depends on something that was not.
    pub(crate) left_out: Vec<LayerPath>,
}

struct Planner<'a> {
    entries: &'a [&'a Change],
    selected: &'a BTreeSet<LayerPath>,
    /// What must not be moved along with a folder.
    stay: BTreeSet<&'a LayerPath>,
    slot: u32,
    plan: Plan,
}

impl Planner<'_> {
    /// Adds the step for one change; `next` is the index of the one after it. Gives whether the step covers what is below.
    fn change(&mut self, change: &Change, next: usize) -> bool {
        let path = change.path.clone();
        let below = || below(&self.entries[next..], &change.path);
        let stays = self.stay.range::<&LayerPath, _>(&path..).next().is_some_and(|stay| stay.is_below(&path));
        let is_whole = !stays && below().all(|below| self.selected.contains(&below.path));
        let was_folder = change.before.is_some_and(|before| before.is_folder());
        let is_folder = change.entry.as_ref().is_some_and(|entry| entry.kind == EntryKind::Folder);
        let deleted_below = || {
            let stamps =
                below().filter_map(|below| Some(Below { path: below.path.clone(), old: below.before? }));
            stamps.collect::<Vec<_>>()
        };
        let (step, covers) = match (change.kind, change.before, change.after) {
            (ChangeKind::Deleted, Some(_), _) if was_folder && !is_whole => {
                self.plan.left_out.push(path);
                return false;
            }
            (ChangeKind::Deleted, Some(old), _) => {
                let below = deleted_below();
                self.slot += 1;
                (Step::Remove { path, old, below, slot: self.slot }, true)
            }
            (ChangeKind::Created, _, Some(new)) if !is_folder || is_whole => {
                (Step::Place { path, new }, true)
            }
            (ChangeKind::Created, _, Some(new)) => (Step::MakeFolder { path, mode: new.mode & 0o777 }, false),
            (ChangeKind::Modified, Some(old), Some(new)) if is_whole => {
                let below = if was_folder { deleted_below() } else { Vec::new() };
                (Step::Replace { path, old, new, below }, true)
            }
            (ChangeKind::Attributes | ChangeKind::Times, Some(old), Some(new)) => {
                let (mode, modified) = (new.mode & 0o777, new.modified);
                (Step::Attributes { path, old, mode, modified }, false)
            }
            // Another kind of entry takes the place of a folder of which something has to stay, or the other way round.
            _ => {
                let unmade = below().filter(|below| self.selected.contains(&below.path));
                self.plan.left_out.extend(std::iter::once(change).chain(unmade).map(|it| it.path.clone()));
                return true;
            }
        };
        self.plan.steps.push(step);
        // A folder that its owner cannot write can be neither moved nor filled, so it is closed at the end.
        if let Some(entry) = &change.entry
            && !change.kind.is_in_place()
            && is_folder
            && entry.mode & 0o700 != 0o700
        {
            self.plan.steps.push(Step::Close { path: change.path.clone(), mode: entry.mode & 0o777 });
        }
        covers
    }
}
