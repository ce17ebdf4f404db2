use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, fstat, statat};
use rustix::io::{Errno, pread, retry_on_intr};

use super::folder::{Folder, Spot, as_path, to_path};
use super::frame::{Enter, EntryKind};
use super::worker::Worker;
use super::{Candidate, Found, Nested, Problem};
use crate::Extent;
use crate::document_name::DocumentName;
use crate::open::{FILE, open_unlinked};

/// What became of opening a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// The folder is a skill and was visited.
    Skill,
    /// There is no such document.
    Absent,
    /// There is something of that name, and it was reported; or the folder is gone.
    Refused,
}

/// Folders that hold a project's history, its packages and its build, hundreds of thousands of files at times. They are
/// asked for a document and never searched.
const NOT_SEARCHED: [&[u8]; 3] = [b".git", b"node_modules", b"target"];

pub(super) fn is_searched(name: &[u8]) -> bool {
    !NOT_SEARCHED.contains(&name)
}

impl<'a, T, F: Fn(Candidate<'_>) -> T> Worker<'_, 'a, T, F> {
    /// Looks at one folder or link, and says whether and why it is to be entered.
    pub(super) fn probe_entry(
        &mut self,
        folder: &Folder<'a>,
        path: &[u8],
        name: &[u8],
        kind: EntryKind,
    ) -> Option<Enter> {
        let root = folder.root;
        if root.given.ignore.as_ref().is_some_and(|ignore| ignore.matches(as_path(path))) {
            return None;
        }
        let real = folder.real.as_ref().map(|real| real.join(as_path(name)));
        let spot = Spot { root, path, real: real.as_deref() };
        match kind {
            EntryKind::Link => {
                self.follow_folder(spot, folder.depth + 1);
                None
            }
            EntryKind::Folder => {
                let probe = self.probe_folder(spot, folder.fd.as_fd(), name);
                what_next(spot, probe)
            }
        }
    }

    /// Asks the folder `name` (the folder `from` itself when empty) for its document.
    pub(super) fn probe_folder(&mut self, spot: Spot<'_, 'a>, from: BorrowedFd<'_>, name: &[u8]) -> Probe {
        match self.probe(spot, from, name, DocumentName::canonical()) {
            // It will not be listed, so the other common spelling is asked for too.
            Probe::Absent if !is_searched(spot.name()) => {
                self.probe(spot, from, name, DocumentName::lower_case())
            }
            probe => probe,
        }
    }

    /// Opens the document of the folder `name` (the folder `from` itself when empty) and visits it.
    pub(super) fn probe(
        &mut self,
        spot: Spot<'_, 'a>,
        from: BorrowedFd<'_>,
        name: &[u8],
        document: DocumentName,
    ) -> Probe {
        let path = &mut self.system_path;
        path.clear();
        if !name.is_empty() {
            path.extend_from_slice(name);
            path.push(b'/');
        }
        path.extend_from_slice(document.as_bytes());
        path.push(0);
        let Ok(path) = CStr::from_bytes_with_nul(path) else { return Probe::Refused };
        let error = match open_unlinked(from, path, FILE) {
            Ok(file) => return self.visit(spot, document, None, &file),
            Err(error) => error,
        };
        let file = || spot.shown().join(document.as_str());
        let root = spot.root.index;
        let problem = match error {
            Errno::NOENT => return Probe::Absent,
            // Somebody put a file where the folder was.
            Errno::NOTDIR => return Probe::Refused,
            Errno::LOOP => return self.follow_document(spot, document),
            // A socket, or a device nobody serves.
            Errno::NXIO | Errno::NODEV => Problem::NotAFile { root, path: file() },
            // Either the folder or the file is closed to us; the file can be seen in an open folder.
            Errno::ACCESS if statat(from, path, AtFlags::SYMLINK_NOFOLLOW).is_err() => {
                Problem::Unreadable { root, path: spot.shown(), error: error.into() }
            }
            _ => Problem::UnreadableFile { root, path: file(), error: error.into() },
        };
        self.report(problem)
    }

    /// Reads the head and calls the visitor.
    pub(super) fn visit(
        &mut self,
        spot: Spot<'_, 'a>,
        name: DocumentName,
        target: Option<&Path>,
        file: &OwnedFd,
    ) -> Probe {
        let shown = || spot.shown().join(name.as_str());
        let root = spot.root.index;
        // Reading at a position is what tells files from FIFOs and folders without another question to the system:
        // neither has positions.
        let count = match retry_on_intr(|| pread(file, &mut self.head[..], 0)) {
            Ok(count) => count,
            Err(_) if !is_regular(file) => return self.report(Problem::NotAFile { root, path: shown() }),
            Err(error) => {
                return self.report(Problem::UnreadableFile { root, path: shown(), error: error.into() });
            }
        };
        let head = &self.head[..count];
        // A device may have positions. None of those that anyone can read begins like a document, so only the few
        // documents that begin otherwise cost the question.
        if !head.starts_with(b"---") && !is_regular(file) {
            return self.report(Problem::NotAFile { root, path: shown() });
        }
        let extent = if count < self.head.len() { Extent::Whole } else { Extent::Truncated };
        let value = (self.walk.visit)(Candidate {
            root,
            folder: as_path(spot.path),
            real: spot.real,
            document_name: name,
            document_target: target,
            head,
            extent,
            file: file.as_fd(),
        });
        let real = spot.real.map(Path::to_owned);
        self.haul.found.push(Found { root, folder: to_path(spot.path), real, value });
        Probe::Skill
    }
}

/// Whether and why a folder is to be entered after its document was asked for.
pub(super) fn what_next(spot: Spot<'_, '_>, probe: Probe) -> Option<Enter> {
    if !is_searched(spot.name()) {
        return None;
    }
    match (probe, spot.root.given.nested) {
        (Probe::Absent, _) => Some(Enter::Group),
        (Probe::Skill, Nested::Search) => Some(Enter::Skill),
        (Probe::Skill, Nested::Skip) | (Probe::Refused, _) => None,
    }
}

fn is_regular(file: &OwnedFd) -> bool {
    fstat(file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}
