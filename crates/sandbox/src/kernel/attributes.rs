//! Attributes of mounts.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// What a mount does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attributes {
    /// No writing, no set-user-id programs, no devices.
    ReadOnly,
    /// No set-user-id programs, no devices.
    Writable,
    /// A device that may be used; no writing to the mount itself, no set-user-id programs.
    Device,
}

impl Attributes {
    fn bits(self) -> u64 {
        match self {
            Self::ReadOnly => libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
            Self::Writable => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
            Self::Device => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC,
        }
    }
}

/// Sets the attributes of a mount and of all mounts below it.
pub(crate) fn set_attributes(mount: BorrowedFd<'_>, attributes: Attributes) -> io::Result<()> {
    change(mount, attributes.bits(), 0, libc::AT_RECURSIVE)
}

/// Makes one mount read-only, whatever is mounted below it.
pub(crate) fn seal(mount: BorrowedFd<'_>) -> io::Result<()> {
    change(mount, libc::MOUNT_ATTR_RDONLY, 0, 0)
}

/// The same for a mount that nobody sees yet, whose files are shown under other owners, as the map of a user namespace says.
/// Not every file system can do that; then nothing is set.
#[expect(clippy::cast_sign_loss, reason = "a descriptor that is borrowed is not negative")]
pub(crate) fn set_owners_too(
    mount: BorrowedFd<'_>,
    attributes: Attributes,
    users: BorrowedFd<'_>,
) -> io::Result<()> {
    let users = users.as_raw_fd() as u64;
    change(mount, attributes.bits() | libc::MOUNT_ATTR_IDMAP, users, libc::AT_RECURSIVE)
}

/// `users` is the namespace whose map gives the owners, where the bits ask for that.
fn change(mount: BorrowedFd<'_>, bits: u64, users: u64, extent: libc::c_int) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: bits, attr_clr: 0, propagation: 0, userns_fd: users };
    // SAFETY: the empty path and the attributes live through the call, and the size is theirs.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | extent,
            std::ptr::from_ref(&attributes),
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
