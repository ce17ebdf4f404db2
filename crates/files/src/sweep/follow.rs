use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;

use super::folder::Spot;
use super::probe::{Probe, what_next};
use super::root::open_folder;
use super::worker::{GroupLink, Worker};
use super::{Candidate, Problem};
use crate::OsError;
use crate::document_name::DocumentName;
use crate::open::{FILE, open_unlinked};

impl<'a, T, F: Fn(Candidate<'_>) -> T> Worker<'_, 'a, T, F> {
    /// Looks at what a link below a root leads to. A skill is visited at once; a folder of skills is left for the next
    /// round, where it is known which links lead to the same one.
    pub(super) fn follow_folder(&mut self, link: Spot<'_, 'a>, depth: u16) {
        let root = link.root;
        let Some(real) = self.resolve(link, &link.real(), &link.shown()) else { return };
        match fs::metadata(&real) {
            Ok(metadata) if metadata.is_dir() => {}
            // A link to a file in a root is like the file: nothing to do with skills.
            Ok(_) => return,
            Err(error) => return self.report_unreadable(link, OsError::from(&error)),
        }
        if !root.may_lead_to(&real) {
            self.report(Problem::LinkOutside { root: root.index, path: link.shown(), target: real });
            return;
        }
        // The link lies in its target: to follow it would be to walk the same folders for ever.
        if link.real().starts_with(&real) {
            self.report(Problem::LinkLoop { root: root.index, path: link.shown(), target: real });
            return;
        }
        // The real path is opened without following links, so what was just allowed is what is opened.
        let folder = match open_folder(&real) {
            Ok(folder) => folder,
            Err(error) => return self.report_unreadable(link, error),
        };
        let spot = Spot { real: Some(&real), ..link };
        let probe = self.probe_folder(spot, folder.as_fd(), b"");
        if let Some(enter) = what_next(spot, probe) {
            self.haul.links.push(GroupLink { root, path: link.path.to_vec(), depth, real, enter });
        }
    }

    /// Reads a document that is itself a link.
    pub(super) fn follow_document(&mut self, spot: Spot<'_, 'a>, name: DocumentName) -> Probe {
        let root = spot.root.index;
        let shown = spot.shown().join(name.as_str());
        let Some(real) = self.resolve(spot, &spot.real().join(name.as_str()), &shown) else {
            return Probe::Refused;
        };
        let unreadable = |path, error: OsError| Problem::UnreadableFile { root, path, error };
        match fs::metadata(&real) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return self.report(Problem::NotAFile { root, path: shown }),
            Err(error) => return self.report(unreadable(shown, OsError::from(&error))),
        }
        if !spot.root.may_lead_to(&real) {
            return self.report(Problem::LinkOutside { root, path: shown, target: real });
        }
        let opened = CString::new(real.as_os_str().as_bytes())
            .map_err(|_| rustix::io::Errno::INVAL)
            .and_then(|path| open_unlinked(CWD, &path, FILE));
        match opened {
            Ok(file) => self.visit(spot, name, Some(&real), &file),
            Err(error) => self.report(unreadable(shown, error.into())),
        }
    }

    /// Where a link leads in the end. Reports a link to nothing.
    fn resolve(&mut self, spot: Spot<'_, 'a>, link: &Path, shown: &Path) -> Option<PathBuf> {
        let root = spot.root.index;
        match fs::canonicalize(link) {
            Ok(real) => Some(real),
            Err(error) => {
                let system = OsError::from(&error);
                let path = shown.to_owned();
                let is_broken =
                    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
                        || system == OsError::from(rustix::io::Errno::LOOP);
                self.report(if is_broken {
                    Problem::LinkBroken { root, path }
                } else {
                    Problem::Unreadable { root, path, error: system }
                });
                None
            }
        }
    }
}
