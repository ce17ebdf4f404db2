use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{Mode, create_parent, is_absent, not_a_file};

/// Links to follow before it is a loop; the kernel's own number.
const MAX_LINKS: usize = 40;

/// Replaces a file as a whole: whoever reads it sees the old bytes or the new ones, also after a power cut.
///
/// The folders above it are made as needed. An existing file keeps its permissions and, where we may, its owner; `mode` is
/// for a new one. A link stays a link and the file it leads to is replaced, so that dotfiles kept elsewhere stay there.
/// Anything else in its place (a folder, a FIFO) is an error of the kind [`io::ErrorKind::InvalidInput`].
pub fn write_atomic(path: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    replace(path, bytes, mode, 0o7777)
}

/// The same for what nobody but its owner may read: an existing file that others could read is closed to them.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, Mode::Private, 0o600)
}

/// Replaces a file; of the permissions of an existing one those in `kept` stay.
fn replace(path: &Path, bytes: &[u8], mode: Mode, kept: u32) -> io::Result<()> {
    let path = &behind_links(path)?;
    let existing = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => Some(metadata),
        Ok(_) => return Err(not_a_file(path)),
        Err(error) if is_absent(&error) => None,
        Err(error) => return Err(error),
    };
    create_parent(path, mode)?;
    let mut file = create_beside(path, mode)?;
    fill(file.as_file_mut(), bytes, existing.as_ref(), kept)?;
    file.persist(path)?;
    // The rename is on the disk only when the folder is. A file system that cannot do this has done what it can.
    if let Ok(folder) = File::open(above(path)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Where the file is once every link at `path` is followed; unlike a real path, it need not exist.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => {
                path.pop();
                path.push(target);
            }
            // "Invalid" is how the system says that it is no link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput || is_absent(&error) => {
                return Ok(path);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::from_raw_os_error(rustix::io::Errno::LOOP.raw_os_error()))
}

/// A new file in the same folder, since a rename does not cross file systems. It is removed unless it is given its name.
fn create_beside(path: &Path, mode: Mode) -> io::Result<NamedTempFile> {
    let name = path.file_name().ok_or_else(|| not_a_file(path))?;
    let hidden = [OsStr::new("."), name, OsStr::new(".")].join(OsStr::new(""));
    let permissions = Permissions::from_mode(mode.bits());
    tempfile::Builder::new().prefix(&hidden).suffix(".tmp").permissions(permissions).tempfile_in(above(path))
}

/// The folder that a file is in.
fn above(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes all of a new file, which takes the owner, where we may, and the permissions in `kept` of the one that it replaces.
pub(crate) fn fill(file: &mut File, bytes: &[u8], existing: Option<&Metadata>, kept: u32) -> io::Result<()> {
    if let Some(existing) = existing {
        let ours = file.metadata()?;
        if (ours.uid(), ours.gid()) != (existing.uid(), existing.gid()) {
            // Only root may give a file away; for everybody else the file becomes theirs, as with any editor. It has to
            // come before the permissions, since giving away takes some of them.
            let _ = fchown(&*file, Some(existing.uid()), Some(existing.gid()));
        }
        file.set_permissions(Permissions::from_mode(existing.mode() & kept))?;
    }
    file.write_all(bytes)?;
    // Without it the new name can reach the disk before the bytes do, and a power cut leaves an empty file.
    file.sync_all()
}
