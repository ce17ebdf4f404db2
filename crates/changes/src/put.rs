//! One file that is put into a layer without an overlay, for a writer that is not a process.

use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, fchown};
use std::path::Path;

use crate::error::LayerError;
use crate::layer::Layer;
use crate::path::LayerPath;

impl Layer {
    /// Puts a file into the upper folder as an overlay would: with the owner and the permissions of the file that it changes, in
    /// folders with the permissions of the project's. Names that metier uses itself are refused.
    pub fn put_file(&self, path: &LayerPath, content: &[u8]) -> Result<(), LayerError> {
        let target = self.upper().join(path.as_path());
        // The scan would leave it out, and the writer would take it for written.
        if path.is_own() {
            return Err(LayerError::OwnName { path: path.clone() });
        }
        put(&self.upper(), self.project(), path.as_path(), content).map_err(LayerError::io("write", target))
    }
}

fn put(upper: &Path, project: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let folders: Vec<&Path> = above.collect();
    // Only root may give a file away; for others it becomes theirs, as with any editor. What is new belongs to the owner of the
    // project: root's next command may change nothing else in it.
    let owner = std::fs::metadata(project)?;
    let is_root = rustix::process::geteuid().is_root();
    for folder in folders.iter().rev() {
        DirBuilder::new().create(upper.join(folder))?;
        if is_root {
            let _ = chown(upper.join(folder), Some(owner.uid()), Some(owner.gid()));
        }
    }
    let mut file = File::create_new(upper.join(path))?;
    file.write_all(content)?;
    let old = found(project, path)?.filter(Metadata::is_file);
    // It comes before the permissions, since giving away takes some of them.
    if let Some(like) = old.as_ref().or_else(|| is_root.then_some(&owner)) {
        let _ = fchown(&file, Some(like.uid()), Some(like.gid()));
    }
    if let Some(old) = old {
        file.set_permissions(Permissions::from_mode(old.mode() & 0o777))?;
    }
    // The deepest first: one of them may be closed to its own user.
    for folder in folders {
        if let Some(old) = found(project, folder)?.filter(Metadata::is_dir) {
            std::fs::set_permissions(upper.join(folder), Permissions::from_mode(old.mode() & 0o777))?;
        }
    }
    Ok(())
}

/// What the project has at a path.
fn found(project: &Path, path: &Path) -> io::Result<Option<Metadata>> {
    match std::fs::symlink_metadata(project.join(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}
