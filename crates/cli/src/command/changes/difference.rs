//! The changed lines of a set.

use crate::output::{Output, clean};
use anyhow::Result;
use metier_changes::{
    Change, ChangeKind, ChangeSet, Layer, LayerPath, ListedChange, NoTextError, TextChange, text_of,
};
use metier_diagnostic::Diff;
use metier_exec::entry_facts;
use metier_policy::EntryFacts;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Shows what changed in a text file, and names what is not one.
pub(super) fn write(layer: &Layer, change: &Change, output: &mut Output) -> Result<()> {
    match text_of(layer, change) {
        Ok(TextChange { before, after }) => {
            let diff = Diff::new(change.path.as_path(), &before, &after);
            output.rendered(&diff.shown(output.paint()))?;
        }
        Err(NoTextError::NotAFile) => {}
        Err(error) => output.line(clean(&format!("{}: no diff, {}", change.path, why(change, &error))))?,
    }
    Ok(())
}

/// A change for programs, with the patch where it is asked for and there is one.
pub(super) fn json(
    layer: &Layer,
    (change, listed): (&Change, &ListedChange<'_>),
    waiting: &ChangeSet,
    protected: &BTreeSet<LayerPath>,
    with_diff: bool,
) -> Result<Value> {
    let mut value = serde_json::to_value(listed)?;
    if change.breaks_hard_link {
        value["breaks_hard_link"] = json!(true);
    }
    let EntryFacts { replaced, target, executable, mode, .. } = entry_facts(change);
    if let Some(target) = target {
        value["target"] = json!(target);
    }
    if executable {
        value["executable"] = json!(true);
    }
    if let Some(mode) = mode {
        value["mode_before"] = json!(format!("{:04o}", mode.before));
    }
    if let Some(replaced) = replaced {
        value["entry_before"] = json!(replaced);
    }
    let is_waiting = waiting.entries.iter().any(|waiting| waiting.path == change.path);
    value["applied"] = json!(!is_waiting);
    value["protected"] = json!(protected.contains(&change.path));
    if with_diff {
        match text_of(layer, change) {
            Ok(TextChange { before, after }) => {
                value["diff"] = json!(Diff::new(change.path.as_path(), &before, &after).patch());
            }
            Err(NoTextError::NotAFile) => {}
            Err(error) => value["no_diff"] = json!(why(change, &error)),
        }
    }
    Ok(value)
}

fn why(change: &Change, error: &NoTextError) -> String {
    match error {
        NoTextError::Changed if change.kind == ChangeKind::Deleted => {
            "it is deleted; `metier changes undo` brings it back".to_owned()
        }
        error => error.to_string(),
    }
}
