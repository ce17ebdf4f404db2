//! Protected paths of a set: what runs or is obeyed later, such as git hooks. They are applied only where each one is named.

use super::text;
use crate::args::ChangesApply;
use crate::command::shell_word;
use crate::output::{Output, clean};
use crate::surroundings::Surroundings;
use crate::typed_path::in_project;
use anyhow::{Context, Result};
use metier_changes::{ChangeKind, ChangeSet, EntryKind, Layer, LayerPath};
use metier_diagnostic::escaped_name;
use metier_exec::protected_paths;
use metier_files::{Survey, SurveyBounds};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The protected paths of a set, as the project is now.
pub(super) fn paths(
    layer: &Layer,
    changes: &ChangeSet,
    surroundings: &Surroundings,
) -> Result<BTreeSet<LayerPath>> {
    let project = layer.project();
    let survey = Survey::of(project, SurveyBounds::default())
        .with_context(|| format!("cannot look for protected paths in {}", project.display()))?
        .with_user(surroundings.places.user_paths());
    Ok(protected_paths(&survey, layer, changes))
}

/// Those that the command line does not name. A folder above one does not name it; a path names the new folders above it.
pub(super) fn unnamed(
    protected: &BTreeSet<LayerPath>,
    changes: &ChangeSet,
    args: &ChangesApply,
    project: &Path,
    surroundings: &Surroundings,
) -> Result<BTreeSet<LayerPath>> {
    let mut named = BTreeSet::new();
    for typed in args.protected.iter().chain(&args.paths) {
        named.extend(in_project(typed, &surroundings.places.current, project)?);
    }
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

/// Says which paths have to be named, and the command that names them, as it is typed here.
pub(super) fn refuse(
    unnamed: &BTreeSet<LayerPath>,
    protected: &BTreeSet<LayerPath>,
    args: &ChangesApply,
    typed: impl Fn(&LayerPath) -> PathBuf,
    output: &mut Output,
) -> Result<()> {
    let texts = |paths: &BTreeSet<LayerPath>| paths.iter().map(text::shown).collect::<Vec<_>>();
    if output.is_json() {
        let (id, unnamed) = (&args.id, texts(unnamed));
        return output.json(&json!({ "id": id, "result": "nothing was applied", "unnamed": unnamed }));
    }
    for path in texts(unnamed) {
        output.aside(&clean(&format!("protected: {path}")))?;
    }
    let mut command = format!("metier changes apply {} --yes", shell_word(&args.id));
    let word = |path: &Path| shell_word(&escaped_name(path.as_os_str().as_encoded_bytes()));
    for path in protected {
        command.push_str(&format!(" --protected {}", word(&typed(path))));
    }
    for path in &args.paths {
        command.push_str(&format!(" {}", word(path)));
    }
    output.aside("nothing was applied: `--yes` applies protected paths only where each is named:")?;
    output.aside(&clean(&format!("  {command}")))
}
