use std::ffi::CString;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::io::Errno;

use super::folder::as_path;
use super::{LinkPolicy, Problem, SweepRoot};
use crate::OsError;
use crate::open::{FOLDER, open_unlinked};

/// A root that is there.
pub(super) struct OpenRoot<'a> {
    pub(super) given: &'a SweepRoot,
    /// Its place among the roots that were given.
    pub(super) index: usize,
    pub(super) fd: OwnedFd,
    pub(super) real: PathBuf,
}

impl OpenRoot<'_> {
    /// The real path of something below the root that no link lies before.
    pub(super) fn real_below(&self, path: &[u8]) -> PathBuf {
        if path.is_empty() { self.real.clone() } else { self.real.join(as_path(path)) }
    }

    /// Whether a link below the root may lead to this real path.
    pub(super) fn may_lead_to(&self, real: &Path) -> bool {
        real.starts_with(&self.real) || is_allowed(&self.given.links, real)
    }
}

fn is_allowed(links: &LinkPolicy, real: &Path) -> bool {
    match links {
        LinkPolicy::Anywhere => true,
        LinkPolicy::Inside(folders) => folders.iter().any(|folder| real.starts_with(folder)),
    }
}

/// Opens the roots that are there.
pub(super) fn open_roots<'a>(roots: &'a [SweepRoot], problems: &mut Vec<Problem>) -> Vec<OpenRoot<'a>> {
    let mut opened = Vec::with_capacity(roots.len());
    for (index, given) in roots.iter().enumerate() {
        match open_root(index, given) {
            Ok(Some(root)) => opened.push(root),
            Ok(None) => {}
            Err(problem) => problems.push(problem),
        }
    }
    opened
}

fn open_root(index: usize, given: &SweepRoot) -> Result<Option<OpenRoot<'_>>, Problem> {
    let unreadable = |error| Problem::Unreadable { root: index, path: given.path.clone(), error };
    let direct = match open_folder(&given.path) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::LOOP) => None,
        Err(error) => return Err(unreadable(error.into())),
        Ok(fd) => Some(fd),
    };
    let real = match fs::canonicalize(&given.path) {
        Ok(real) => real,
        Err(error) => {
            return match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Ok(None),
                _ => Err(unreadable(OsError::from(&error))),
            };
        }
    };
    let fd = match direct {
        Some(fd) => fd,
        None if !is_allowed(&given.links, &real) => {
            return Err(Problem::LinkOutside { root: index, path: given.path.clone(), target: real });
        }
        // Its links were followed a moment ago; a new one on the way is a race, and is refused.
        None => match open_folder(&real) {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(unreadable(error.into())),
        },
    };
    Ok(Some(OpenRoot { given, index, fd, real }))
}

/// Opens a folder by its path, and fails with `ELOOP` where a link lies on the way.
pub(super) fn open_folder(path: &Path) -> Result<OwnedFd, Errno> {
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::NOENT)?;
    open_unlinked(CWD, &path, FOLDER)
}
