//! Opening without following links and without waiting.

use std::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::{Errno, retry_on_intr};

/// How every file is opened. Without NONBLOCK a FIFO named SKILL.md would wait for a writer for ever; without NOCTTY a
/// terminal device could become ours; NOFOLLOW because a link is a decision, made elsewhere.
pub(crate) const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NOCTTY);

/// How every folder is opened.
pub(crate) const FOLDER: OFlags = FILE.union(OFlags::DIRECTORY);

/// Opens `path`, seen from `from`, and fails with `ELOOP` if any part of it is a link.
///
/// Between listing a folder and opening something in it, whoever owns the folder can put a link where a folder was.
/// `openat` alone would follow it, since NOFOLLOW speaks of the last part only; `openat2` refuses it in the same single
/// call and, measured over 10,000 files, at the same cost.
pub(crate) fn open_unlinked(from: BorrowedFd<'_>, path: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    /// Kernels before 5.6 do not have `openat2`, and some containers forbid it; neither changes while we run.
    static MISSING: AtomicBool = AtomicBool::new(false);

    if !MISSING.load(Ordering::Relaxed) {
        // NO_SYMLINKS says all that NOFOLLOW says; with both, a link in a folder's place would be "not a directory".
        let flags = flags.difference(OFlags::NOFOLLOW);
        match retry_on_intr(|| openat2(from, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)) {
            // Seccomp filters that do not know the call answer with EPERM; nothing we ask for gives it otherwise.
            Err(Errno::NOSYS | Errno::PERM) => MISSING.store(true, Ordering::Relaxed),
            answer => return answer,
        }
    }
    open_step_by_step(from, path, flags)
}

/// The same promise where `openat2` is missing: one `openat` for each part of the path.
fn open_step_by_step(from: BorrowedFd<'_>, path: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let path = path.to_bytes();
    let mut at = None::<OwnedFd>;
    if path.first() == Some(&b'/') {
        at = Some(retry_on_intr(|| openat(from, c"/", FOLDER, Mode::empty()))?);
    }
    let mut parts = path.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        let flags = if parts.peek().is_some() { FOLDER } else { flags };
        let here = at.as_ref().map_or(from, std::os::fd::AsFd::as_fd);
        let next = retry_on_intr(|| openat(here, part, flags, Mode::empty())).map_err(|error| {
            // O_DIRECTORY with O_NOFOLLOW calls a link "not a directory"; the callers tell the two apart.
            if error == Errno::NOTDIR && is_link(here, part) { Errno::LOOP } else { error }
        })?;
        at = Some(next);
    }
    at.ok_or(Errno::NOENT)
}

fn is_link(from: BorrowedFd<'_>, name: &[u8]) -> bool {
    use rustix::fs::{AtFlags, FileType, statat};
    statat(from, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::ffi::OsStrExt;

    use metier_testkit::Workspace;
    use rustix::fs::CWD;

    use super::*;

    /// Both ways of opening have to give the same answer to everything.
    #[test]
    fn both_ways_of_opening_agree() {
        let workspace = Workspace::new()
            .file("real/file", "x")
            .symlink("link", "real")
            .symlink("real/link", "file")
            .fifo("real/fifo")
            .dir("real/empty");
        let from = openat(CWD, workspace.path(), FOLDER, Mode::empty()).unwrap();

        let table: &[(&CStr, OFlags, Result<(), Errno>)] = &[
            (c"real/file", FILE, Ok(())),
            (c"real//file", FILE, Ok(())),
            (c"real/fifo", FILE, Ok(())),
            (c"real/empty", FOLDER, Ok(())),
            (c"real", FOLDER, Ok(())),
            (c"link/file", FILE, Err(Errno::LOOP)),
            (c"real/link", FILE, Err(Errno::LOOP)),
            (c"link", FOLDER, Err(Errno::LOOP)),
            (c"real/file", FOLDER, Err(Errno::NOTDIR)),
            (c"real/file/x", FILE, Err(Errno::NOTDIR)),
            (c"real/none", FILE, Err(Errno::NOENT)),
            (c"", FILE, Err(Errno::NOENT)),
        ];
        for (path, flags, expected) in table {
            let quick = open_unlinked(from.as_fd(), path, *flags).map(drop);
            let slow = open_step_by_step(from.as_fd(), path, *flags).map(drop);
            assert_eq!(&quick, expected, "{path:?}");
            assert_eq!(&slow, expected, "{path:?} step by step");
        }

        let absolute = workspace.join("real/file");
        let absolute = std::ffi::CString::new(absolute.as_os_str().as_bytes()).unwrap();
        assert!(open_unlinked(CWD, &absolute, FILE).is_ok());
        assert!(open_step_by_step(CWD, &absolute, FILE).is_ok());
    }
}
