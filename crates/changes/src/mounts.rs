//! Which mount a folder lies in. The kernel renames nothing from one mount to another, also where both show one file system.

use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatVfsMountFlags, StatxFlags, stat, statvfs, statx};

use crate::error::LayerError;

/// The file system of a path and its mount; `None` where the kernel does not tell the mount. Volumes inside one file system have
/// devices of their own in one mount.
fn identity(path: &Path) -> io::Result<(u64, Option<u64>)> {
    let device = stat(path)?.st_dev;
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID);
    let is_told = |mask: u32| StatxFlags::from_bits_retain(mask).contains(StatxFlags::MNT_ID);
    Ok((device, found.ok().filter(|found| is_told(found.stx_mask)).map(|found| found.stx_mnt_id)))
}

/// Whether something can be renamed from one folder to another, as far as their mounts tell.
pub(crate) fn is_one_mount(left: &Path, right: &Path) -> io::Result<bool> {
    Ok(identity(left)? == identity(right)?)
}

/// Refuses a project whose mount or file system is read-only, for root too.
pub(crate) fn check_writable(project: &Path) -> Result<(), LayerError> {
    let found = statvfs(project).map_err(LayerError::io("read", project))?;
    if found.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(LayerError::ReadOnly { project: project.to_owned() });
    }
    Ok(())
}

/// Whether a rename failed because both places are in different mounts, or in parts of a file system that it keeps apart.
pub(crate) fn is_other_mount(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::CrossesDevices
}
