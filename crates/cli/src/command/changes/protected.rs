//! Protected paths of a set: what runs or is obeyed later, such as git hooks. They are applied only where each one is named.

use super::path_in_project;
use crate::args::ChangesApply;
use crate::command::shell_word;
use crate::output::{Form, Output, clean};
use anyhow::{Context, Result};
use metier_changes::{ChangeKind, ChangeSet, EntryKind, LayerPath};
use metier_files::{Survey, SurveyBounds};
use metier_runtime::protected_paths;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

/// The protected paths of a set, as the project is now.
pub(super) fn paths(project: &Path, changes: &ChangeSet) -> Result<BTreeSet<LayerPath>> {
    let survey = Survey::of(project, SurveyBounds::default())
        .with_context(|| format!("cannot look for protected paths in {}", project.display()))?;
    Ok(protected_paths(&survey, changes))
}

/// Those that the command line does not name. A folder above one does not name it; a path names the new folders above it.
pub(super) fn unnamed(
    protected: &BTreeSet<LayerPath>,
    changes: &ChangeSet,
    args: &ChangesApply,
) -> Result<BTreeSet<LayerPath>> {
    let texts = args.protected.iter().chain(&args.paths);
    let named = texts.map(|text| path_in_project(text)).collect::<Result<BTreeSet<_>>>()?;
    let is_new_folder = |path: &LayerPath| {
        changes.entries.iter().any(|change| {
            change.path == *path
                && change.kind == ChangeKind::Created
                && change.entry.as_ref().is_some_and(|entry| entry.kind == EntryKind::Folder)
        })
    };
    let is_named = |path: &LayerPath| {
        named.contains(path) || is_new_folder(path) && named.iter().any(|named| named.is_below(path))
    };
    Ok(protected.iter().filter(|path| !is_named(path)).cloned().collect())
}

/// Says which paths have to be named, and the command that names them.
pub(super) fn refuse(
    unnamed: &BTreeSet<LayerPath>,
    protected: &BTreeSet<LayerPath>,
    args: &ChangesApply,
    output: &mut Output,
) -> Result<()> {
    let texts = |paths: &BTreeSet<LayerPath>| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    if output.form() == Form::Json {
        return Ok(output
            .json(&json!({ "id": args.id, "result": "nothing was applied", "unnamed": texts(unnamed) }))?);
    }
    for path in texts(unnamed) {
        output.aside(&clean(&format!("protected: {path}")))?;
    }
    let mut command = format!("metier changes apply {} --yes", shell_word(&args.id));
    for path in texts(protected) {
        command.push_str(&format!(" --protected {}", shell_word(&path)));
    }
    for path in &args.paths {
        command.push_str(&format!(" {}", shell_word(path)));
    }
    output.aside("nothing was applied: `--yes` applies protected paths only where each is named:")?;
    Ok(output.aside(&clean(&format!("  {command}")))?)
}
