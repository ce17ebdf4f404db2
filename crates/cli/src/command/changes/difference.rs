//! The changed lines of a set.

use crate::output::{Output, clean};
use anyhow::Result;
use metier_changes::{
    Change, ChangeKind, ChangeSet, Layer, LayerPath, ListedChange, NoTextError, TextChange, text_of,
};
use metier_diagnostic::{Diff, Paint};
use metier_exec::entry_facts;
use metier_policy::EntryFacts;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Shows what changed in a text file, and names what is not one.
pub(super) fn write(layer: &Layer, change: &Change, output: &mut Output) -> Result<()> {
    match difference(layer, change, output.paint()) {
        Some(Ok(diff)) => output.rendered(&diff)?,
        Some(Err(why)) => output.line(why)?,
        None => {}
    }
    Ok(())
}

/// The most lines of a diff in a question: more is not read at a prompt.
const MAX_DIFF_LINES: usize = 1000;

/// The same as lines for a question.
pub(super) fn lines<'a>(layer: &Layer, changes: impl Iterator<Item = &'a Change>) -> Vec<String> {
    let mut lines = Vec::new();
    for change in changes {
        match difference(layer, change, Paint::Plain) {
            Some(Ok(diff)) => lines.extend(diff.lines().map(str::to_owned)),
            Some(Err(why)) => lines.push(why),
            None => {}
        }
        if lines.len() > MAX_DIFF_LINES {
            lines.truncate(MAX_DIFF_LINES);
            lines.push(format!("(more lines: `metier changes show {} --diff`)", layer.id()));
            break;
        }
    }
    lines
}

/// The diff of a text file, or the reason why it has none. `None` for folders and links.
fn difference(layer: &Layer, change: &Change, paint: Paint) -> Option<Result<String, String>> {
    match text_of(layer, change) {
        Ok(TextChange { before, after }) => {
            Some(Ok(Diff::new(change.path.as_path(), &before, &after).shown(paint)))
        }
        Err(NoTextError::NotAFile) => None,
        Err(error) => Some(Err(clean(&format!("{}: no diff, {}", change.path, why(change, &error))))),
    }
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
    // As `changes apply` takes it, and as results have it.
    value["path"] = json!(super::text::shown(&change.path));
    if let Some(from) = &change.renamed_from {
        value["renamed_from"] = json!(super::text::shown(from));
    }
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
