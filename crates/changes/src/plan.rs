//! From a selection of changes to the steps that apply it.

use std::collections::BTreeSet;

use crate::change::{Change, ChangeKind, ChangeSet, EntryKind};
use crate::journal::{Below, Step};
use crate::path::LayerPath;

/// The steps for the selected changes, in an order in which each finds its folder, and the selected changes that cannot be
/// made without one that was not selected.
pub(crate) fn plan(changes: &ChangeSet, selected: &BTreeSet<LayerPath>) -> Plan {
    let mut plan = Plan::default();
    let mut planner = Planner { changes, selected, slot: 0, plan: &mut plan };
    let mut at = 0;
    // New folders that stay away: nothing below them has a place to go to.
    let mut missing: Vec<&LayerPath> = Vec::new();
    while let Some(change) = changes.entries.get(at) {
        at += 1;
        let is_new_folder = change.is_new_folder();
        let is_homeless = missing.last().is_some_and(|folder| change.path.is_below(folder));
        if !selected.contains(&change.path) || is_homeless {
            if selected.contains(&change.path) {
                planner.plan.left_out.push(change.path.clone());
            }
            if is_new_folder && !is_homeless {
                missing.push(&change.path);
            }
            continue;
        }
        if planner.change(change, at) {
            // It took everything below it along.
            at += changes.entries[at..].iter().take_while(|below| below.path.is_below(&change.path)).count();
        }
    }
    // Permissions come last: a folder that is closed takes no more entries.
    plan.steps.sort_by_key(|step| matches!(step, Step::Attributes { .. }));
    plan
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// What was selected and depends on something that was not.
    pub(crate) left_out: Vec<LayerPath>,
}

struct Planner<'a> {
    changes: &'a ChangeSet,
    selected: &'a BTreeSet<LayerPath>,
    slot: u32,
    plan: &'a mut Plan,
}

impl Planner<'_> {
    /// Adds the step for one change; `next` is the index of the one after it. Gives whether the step covers what is below.
    fn change(&mut self, change: &Change, next: usize) -> bool {
        let path = change.path.clone();
        let below = || {
            let entries = self.changes.entries[next..].iter();
            entries.take_while(|below| below.path.is_below(&change.path))
        };
        let kept_out = self.changes.refused.iter().filter(|refused| refused.is_kept_out());
        let mut stay = kept_out.map(|refused| &refused.path).chain(&self.changes.strays);
        let is_whole = below().all(|below| self.selected.contains(&below.path))
            && !stay.any(|path| path.is_below(&change.path));
        let was_folder = change.before.is_some_and(|before| before.kind == Some(EntryKind::Folder));
        let is_folder = change.entry.as_ref().is_some_and(|entry| entry.kind == EntryKind::Folder);
        let deleted_below = || {
            let stamps =
                below().filter_map(|below| Some(Below { path: below.path.clone(), old: below.before? }));
            stamps.collect::<Vec<_>>()
        };
        match (change.kind, change.before, change.after) {
            (ChangeKind::Deleted, Some(old), _) => {
                if was_folder && !is_whole {
                    self.plan.left_out.push(path);
                    return false;
                }
                let below = deleted_below();
                self.slot += 1;
                self.plan.steps.push(Step::Remove { path, old, below, slot: self.slot });
                true
            }
            (ChangeKind::Created, _, Some(new)) if !is_folder || is_whole => {
                self.plan.steps.push(Step::Place { path, new });
                true
            }
            (ChangeKind::Created, _, Some(new)) => {
                self.plan.steps.push(Step::MakeFolder { path, mode: new.mode & 0o777 });
                false
            }
            (ChangeKind::Modified, Some(old), Some(new)) if is_whole => {
                let below = if was_folder { deleted_below() } else { Vec::new() };
                self.plan.steps.push(Step::Replace { path, old, new, below });
                true
            }
            (ChangeKind::Attributes, Some(old), Some(new)) => {
                self.plan.steps.push(Step::Attributes {
                    path,
                    old,
                    mode: new.mode & 0o777,
                    modified: new.modified,
                });
                false
            }
            // Another kind of entry takes the place of a folder of which something has to stay, or the other way round.
            _ => {
                self.plan.left_out.push(path);
                true
            }
        }
    }
}
