//! A layer in another mount than its project: what is applied is copied next to its place first.
//!
//! The stage is a hidden folder in the project, where renaming works. It is there while something is applied or undone and
//! not longer: what was replaced is copied to the layer, and [`clear`] takes the stage away. After a stop of the machine
//! recovery does the same.

use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::apply::interruption_point;
use crate::beneath::Tree;
use crate::change::ChangeSet;
use crate::copy::{Depth, copy_entry, make_parents};
use crate::error::{ApplyError, LayerError};
use crate::layer::Layer;
use crate::mounts::is_one_mount;
use crate::path::{LayerPath, STAGE_PREFIX};
use crate::remove::remove_tree;

/// Folders of a layer that applying moves entries to and from.
const FOLDERS: [&str; 2] = ["upper", "old"];

/// Where the stage of a layer is.
fn stage(layer: &Layer) -> PathBuf {
    layer.project().join(format!("{STAGE_PREFIX}{}", layer.id()))
}

/// What a journal took out of the project, once the stage is gone.
fn kept(layer: &Layer, number: u32) -> PathBuf {
    layer.folder().join(format!("kept-{number}"))
}

/// The folders between which entries move: of the stage, if there is one, or of the layer itself.
pub(crate) fn folders(layer: &Layer) -> [PathBuf; 2] {
    let stage = stage(layer);
    if stage.exists() { FOLDERS.map(|name| stage.join(name)) } else { [layer.upper(), layer.old()] }
}

/// Whether nothing can be renamed between the layer and its project. A layer that was made in one mount with the project may be
/// in another one when it is applied: in a container, or after the project was mounted by itself.
pub(crate) fn is_needed(layer: &Layer) -> Result<bool, LayerError> {
    let is_one = is_one_mount(layer.folder(), layer.project());
    Ok(!is_one.map_err(LayerError::io("read", layer.project()))?)
}

/// Refuses to go on with a journal that was begun without a stage where renaming is not possible any more.
pub(crate) fn check_renames(layer: &Layer) -> Result<(), LayerError> {
    if stage(layer).exists() || !is_needed(layer)? {
        return Ok(());
    }
    Err(LayerError::OtherMount { project: layer.project().to_owned(), layer: layer.folder().to_owned() })
}

/// Copies what was selected to a new stage.
pub(crate) fn fill(
    layer: &Layer,
    changes: &ChangeSet,
    selected: &BTreeSet<LayerPath>,
) -> Result<(), ApplyError> {
    clear(layer)?;
    let stage = stage(layer);
    make(&stage)?;
    let (from, to) = (Tree::open(&layer.upper())?, Tree::open(&stage.join(FOLDERS[0]))?);
    for change in &changes.entries {
        interruption_point();
        let is_moved = change.entry.is_some() && !change.kind.is_in_place() && !change.in_session;
        if is_moved && selected.contains(&change.path) {
            make_parents(&to, &change.path)
                .and_then(|()| copy_entry(&from, &to, &change.path, Depth::Entry))
                .map_err(|source| ApplyError::Io { path: change.path.clone(), source })?;
        }
    }
    Ok(())
}

/// Keeps what a journal took out of the project, for an undo, and takes the stage away.
pub(crate) fn keep(layer: &Layer, number: u32) -> Result<(), LayerError> {
    let stage = stage(layer);
    let kept = kept(layer, number);
    if !stage.exists() {
        return Ok(());
    }
    if !kept.exists() {
        // A draft until it is complete.
        let draft = layer.folder().join("kept-draft");
        remove_tree(&draft).map_err(LayerError::io("remove", &draft))?;
        copy_folders(&stage, &draft)?;
        std::fs::rename(&draft, &kept).map_err(LayerError::io("rename", &draft))?;
        interruption_point();
    }
    clear(layer)
}

/// Brings what a journal took out of the project back to a stage, for an undo.
pub(crate) fn bring_back(layer: &Layer, number: u32) -> Result<(), LayerError> {
    let kept = kept(layer, number);
    if !kept.exists() {
        return Ok(());
    }
    clear(layer)?;
    copy_folders(&kept, &stage(layer))
}

/// Removes the stage, if there is one.
pub(crate) fn clear(layer: &Layer) -> Result<(), LayerError> {
    let stage = stage(layer);
    if !stage.exists() {
        return Ok(());
    }
    interruption_point();
    remove_tree(&stage).map_err(LayerError::io("remove", stage))
}

fn make(folder: &Path) -> Result<(), LayerError> {
    for path in [folder.to_owned(), folder.join(FOLDERS[0]), folder.join(FOLDERS[1])] {
        DirBuilder::new().mode(0o700).create(&path).map_err(LayerError::io("create", &path))?;
    }
    Ok(())
}

fn copy_folders(from: &Path, to: &Path) -> Result<(), LayerError> {
    make(to)?;
    for name in FOLDERS {
        interruption_point();
        let (source, target) = (Tree::open(&from.join(name))?, Tree::open(&to.join(name))?);
        let names = source.names(None).map_err(LayerError::io("read", from.join(name)))?;
        for entry in names.iter().map(|name| LayerPath::top(name)) {
            copy_entry(&source, &target, &entry, Depth::Everything)
                .map_err(LayerError::io("copy", from.join(name).join(entry.as_path())))?;
        }
    }
    Ok(())
}
