//! Folders that can hold layers, and which of them is the best for a project.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{XattrFlags, removexattr, setxattr, statfs};

use crate::error::LayerError;
use crate::layer::Marks;
use crate::mounts::{check_writable, is_one_mount};
use crate::path::LAYERS_NAME;

/// What the kernel calls overlayfs. An overlay cannot be the upper layer of another one.
const OVERLAYFS_MAGIC: u64 = 0x794c_7630;

/// The folder for a project's layers, made where it is missing.
///
/// In this order: the data folder if applying from it is renaming, a hidden folder beside the project, the data folder on
/// whatever file system, and folders in memory or for temporary files.
pub(crate) fn choose(data: &Path, temporary: &[PathBuf], project: &Path) -> Result<PathBuf, LayerError> {
    check_writable(project)?;
    let is_near = |place: &Path| is_one_mount(place, project).unwrap_or(false);
    let own = can_hold_layers(data, project).then_some(data);
    if let Some(own) = own.filter(|own| is_near(own)) {
        return Ok(own.to_owned());
    }
    if let Some(parent) = project.parent()
        && is_near(parent)
        && can_hold_layers(&parent.join(LAYERS_NAME), project)
    {
        return Ok(parent.join(LAYERS_NAME));
    }
    if let Some(own) = own {
        return Ok(own.to_owned());
    }
    // Other users can write to these, so each user has a folder of their own there.
    let name = format!("metier-layers-{}", rustix::process::geteuid().as_raw());
    let places = temporary.iter().map(|folder| folder.join(&name));
    places
        .into_iter()
        .find(|place| can_hold_layers(place, project))
        .ok_or_else(|| LayerError::NoPlace { project: project.to_owned() })
}

/// Whether a folder can be made and can hold the upper layer of an overlay on the project.
fn can_hold_layers(place: &Path, project: &Path) -> bool {
    // The kernel refuses an upper layer that lies inside the lower one.
    if place.starts_with(project) || make_private(place).is_err() {
        return false;
    }
    let is_overlay = |found: rustix::fs::StatFs| u64::try_from(found.f_type) == Ok(OVERLAYFS_MAGIC);
    // An overlay keeps its marks in extended attributes. Without them deleted folders come back.
    let probe = format!("{}probe", Marks::own().prefix());
    let takes_marks = || {
        setxattr(place, probe.as_str(), b"y", XattrFlags::empty()).is_ok()
            && removexattr(place, probe.as_str()).is_ok()
    };
    let is_fit = statfs(place).is_ok_and(|found| !is_overlay(found)) && takes_marks();
    if !is_fit {
        // It was made for the trial, unless there is something in it.
        let _ = std::fs::remove_dir(place);
    }
    is_fit
}

/// Makes a folder that only this user may enter. One that belongs to another user, or a link, is refused: its owner could
/// exchange what is applied.
pub(crate) fn make_private(place: &Path) -> io::Result<()> {
    match DirBuilder::new().recursive(true).mode(0o700).create(place) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = std::fs::symlink_metadata(place)?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    if found.mode() & 0o077 != 0 {
        std::fs::set_permissions(place, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn the_data_folder_is_taken_unless_it_lies_in_the_project() {
        let workspace = Workspace::new().dir("project/data").dir("data");
        let project = workspace.join("project");
        let near = choose(&workspace.join("data/layers"), &[], &project).unwrap();
        assert_eq!(near, workspace.join("data/layers"));
        assert_eq!(std::fs::metadata(&near).unwrap().mode() & 0o777, 0o700);
        let inside = choose(&project.join("data/layers"), &[], &project).unwrap();
        assert_eq!(inside, workspace.join(LAYERS_NAME));
        assert_eq!(std::fs::metadata(&inside).unwrap().mode() & 0o777, 0o700);
        assert!(!project.join("data/layers").exists());
    }

    #[test]
    fn a_link_or_a_file_in_the_way_is_passed_over() {
        let workspace = Workspace::new().dir("project/data").dir("elsewhere").dir("memory");
        let workspace = workspace.symlink(LAYERS_NAME, "elsewhere");
        let project = workspace.join("project");
        let temporary = [workspace.join("missing/file"), workspace.join("memory")];
        let place = choose(&project.join("data"), &temporary[1..], &project).unwrap();
        assert!(place.starts_with(workspace.join("memory")), "{}", place.display());
        let error = choose(&project.join("data"), &[], &project).unwrap_err();
        assert!(matches!(error, LayerError::NoPlace { .. }), "{error}");
    }
}
