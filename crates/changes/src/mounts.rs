//! Which mount a folder lies in. The kernel renames nothing from one mount to another, also where both show one file system.

use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatVfsMountFlags, StatxFlags, stat, statvfs, statx};

/// A mount and the file system that it shows. Volumes inside one file system have devices of their own in one mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MountIdentity {
    device: u64,
    /// `None` where the kernel does not tell.
    mount: Option<u64>,
}

fn identity(path: &Path) -> io::Result<MountIdentity> {
    let device = stat(path)?.st_dev;
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID);
    let is_told = |mask: u32| StatxFlags::from_bits_retain(mask).contains(StatxFlags::MNT_ID);
    let mount = found.ok().filter(|found| is_told(found.stx_mask)).map(|found| found.stx_mnt_id);
    Ok(MountIdentity { device, mount })
}

/// Whether something can be renamed from one folder to another, as far as their mounts tell.
pub(crate) fn is_one_mount(left: &Path, right: &Path) -> io::Result<bool> {
    Ok(identity(left)? == identity(right)?)
}

/// Whether the mount or the file system of a folder is read-only, for root too.
pub(crate) fn is_read_only(folder: &Path) -> io::Result<bool> {
    Ok(statvfs(folder)?.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Whether a rename failed because both places are in different mounts, or in parts of a file system that it keeps apart.
pub(crate) fn is_other_mount(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::CrossesDevices
}
