//! Folders of the project that their owner may not write, opened for as long as something in them is changed.

use std::collections::BTreeSet;

use crate::beneath::Tree;
use crate::error::ApplyError;
use crate::journal::Step;
use crate::path::LayerPath;
use crate::plan::{opens, sort};

/// Adds steps that open such folders before the others and close them afterwards. The script opened them as well: in its layer
/// only what it left is to be seen.
pub(super) fn open_closed(project: &Tree, steps: &mut Vec<Step>) -> Result<(), ApplyError> {
    let (mut added, mut entered, mut is_open) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for step in &*steps {
        match step {
            Step::Place { path, .. } => entered.extend(path.parent()),
            Step::MakeFolder { path, .. } => {
                entered.extend(path.parent());
                is_open.insert(path.clone());
            }
            Step::Replace { path, old, .. } | Step::Remove { path, old, .. } => {
                entered.extend(path.parent());
                // A folder that moves to another one is written itself: it gets another parent.
                if old.is_folder() && old.mode & 0o200 == 0 {
                    added.push(Step::Open { path: path.clone(), old: *old });
                }
            }
            Step::Attributes { path, .. } if opens(step) => drop(is_open.insert(path.clone())),
            Step::Open { .. } | Step::Attributes { .. } | Step::Close { .. } => {}
        }
    }
    for path in entered.difference(&is_open) {
        let found = project.stamp(path).map_err(|source| ApplyError::Io { path: path.clone(), source })?;
        // The steps find out what is not there.
        let Some(old) = found else { continue };
        if old.is_folder() && old.mode & 0o300 != 0o300 {
            added.push(Step::Open { path: path.clone(), old });
            let mode = mode_afterwards(steps, path).unwrap_or(old.mode & 0o777);
            added.push(Step::Close { path: path.clone(), mode });
        }
    }
    steps.extend(added);
    sort(steps);
    Ok(())
}

/// The permissions that the set itself gives a folder.
fn mode_afterwards(steps: &[Step], folder: &LayerPath) -> Option<u32> {
    steps.iter().find_map(|step| match step {
        Step::Attributes { path, mode, .. } if path == folder => Some(*mode),
        _ => None,
    })
}
