//! Reading a folder's entries.

use std::ffi::{CStr, CString};
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, FileType, statat};
use rustix::io::Errno;

use crate::Extent;

/// One call of the system fills this much: some 800 entries, so that a group of ordinary size takes one call and a
/// flat root of 10,000 a dozen.
const BUFFER: usize = 32 * 1024;

/// Calls `take` with each entry's name and type, in the file system's order, `.` and `..` left out.
///
/// The descriptor has to be fresh: entries are read from where it stands. The buffer is the memory that this needs, kept between
/// folders.
pub(crate) fn each_entry(
    folder: BorrowedFd<'_>,
    buffer: &mut Vec<u8>,
    mut take: impl FnMut(&CStr, FileType) -> ControlFlow<()>,
) -> Result<(), Errno> {
    buffer.clear();
    buffer.reserve_exact(BUFFER);
    let mut entries = rustix::fs::RawDir::new(folder, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) => {
                let name = entry.file_name();
                if is_own_or_parent(name) {
                    continue;
                }
                let kind = known_type(folder, name, entry.file_type());
                if take(name, kind).is_break() {
                    break;
                }
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The entries of a folder by name, at most `room` of them, anything called `.git` left out. Sorted so that a walk which ends
/// early is the same every time.
pub(crate) fn sorted_entries(
    folder: BorrowedFd<'_>,
    buffer: &mut Vec<u8>,
    room: usize,
) -> Result<(Vec<(CString, FileType)>, Extent), Errno> {
    let (mut entries, mut extent) = (Vec::new(), Extent::Whole);
    each_entry(folder, buffer, |name, kind| {
        if name.to_bytes() == b".git" {
            return ControlFlow::Continue(());
        }
        if entries.len() >= room {
            extent = Extent::Truncated;
            return ControlFlow::Break(());
        }
        entries.push((name.to_owned(), kind));
        ControlFlow::Continue(())
    })?;
    entries.sort_unstable_by(|(a, _): &(CString, FileType), (b, _)| a.cmp(b));
    Ok((entries, extent))
}

fn is_own_or_parent(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

/// Some file systems do not store the type in the folder; then the file is asked. One that is gone by now stays
/// unknown, which nobody takes for a file or a folder.
fn known_type(folder: BorrowedFd<'_>, name: &CStr, listed: FileType) -> FileType {
    if listed != FileType::Unknown {
        return listed;
    }
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}
