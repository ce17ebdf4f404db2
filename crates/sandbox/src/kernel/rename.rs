//! `renameat2` in the form that the filter of a layered call lets through.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

/// A bit above those that the kernel reads of the flags. The filter of a layered call tells the listener of every other
/// rename: without this the supervisor would wait for itself.
const UNNOTIFIED: u64 = 1 << 32;

/// Whether a rename may replace what has the new name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replace {
    Yes,
    No,
}

/// Renames a file or folder.
pub(crate) fn rename_unnotified(
    (from, name): (BorrowedFd<'_>, &CStr),
    (to, new_name): (BorrowedFd<'_>, &CStr),
    replace: Replace,
) -> Result<(), Errno> {
    let flags = match replace {
        Replace::Yes => UNNOTIFIED,
        Replace::No => UNNOTIFIED | u64::from(libc::RENAME_NOREPLACE),
    };
    // SAFETY: both names live through the call and end with a zero; the kernel writes to neither.
    let result = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            from.as_raw_fd(),
            name.as_ptr(),
            to.as_raw_fd(),
            new_name.as_ptr(),
            flags,
        )
    };
    if result == 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}
