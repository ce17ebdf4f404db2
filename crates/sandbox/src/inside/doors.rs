//! Sockets and pipes that lie in folders which a call can read. They lead to whoever listens at their other end, and that a
//! mount is read-only does not keep anybody from speaking through them.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, openat2, statat};

use crate::folder::{entries, open_folder};

/// How many entries of a folder are looked at. The largest of the public skills has a tenth of it; more would be felt at the
/// start of a call.
const MAX_ENTRIES: usize = 10_000;

/// How deep folders are entered, each of which is held open meanwhile.
const MAX_DEPTH: usize = 32;

/// What was found in one folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Doors {
    /// Where they are.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether everything was looked at.
    pub(crate) is_partial: bool,
    looked_at: usize,
}

impl Doors {
    /// Looks through a folder, or at a file, without following any link. What cannot be opened by whoever looks cannot be
    /// by the call either.
    pub(crate) fn find(place: &Path) -> Self {
        let mut doors = Self::default();
        let flags = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let Ok(opened) = openat2(CWD, place, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), flags) else {
            return doors;
        };
        match statat(&opened, "", AtFlags::EMPTY_PATH).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Ok(FileType::Directory) => {
                if let Ok(folder) = open_folder(&opened, ".") {
                    doors.walk(&folder, place, 0);
                }
            }
            Ok(FileType::Socket | FileType::Fifo) => doors.paths.push(place.to_owned()),
            _ => {}
        }
        doors
    }

    fn walk(&mut self, folder: &OwnedFd, path: &Path, depth: usize) {
        for entry in entries(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            self.looked_at += 1;
            if self.looked_at > MAX_ENTRIES {
                self.is_partial = true;
                return;
            }
            // Some file systems do not say in the list what an entry is.
            let kind = match entry.file_type() {
                FileType::Unknown => statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                kind => kind,
            };
            let path = || path.join(OsStr::from_bytes(name.to_bytes()));
            match kind {
                FileType::Socket | FileType::Fifo => self.paths.push(path()),
                FileType::Directory if depth == MAX_DEPTH => self.is_partial = true,
                FileType::Directory => {
                    if let Ok(inner) = open_folder(folder, name) {
                        self.walk(&inner, &path(), depth + 1);
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn sockets_and_pipes_are_found_at_any_depth_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("skill/a/b")).unwrap();
        std::fs::create_dir(root.join("other")).unwrap();
        std::fs::write(root.join("skill/a/file"), "x").unwrap();
        let _listeners = ["skill/a/b/s.sock", "other/s.sock"].map(|name| UnixListener::bind(root.join(name)));
        rustix::fs::mknodat(CWD, root.join("skill/pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        symlink(root.join("other"), root.join("skill/link")).unwrap();
        let mut doors = Doors::find(&root.join("skill"));
        doors.paths.sort();
        assert_eq!(doors.paths, [root.join("skill/a/b/s.sock"), root.join("skill/pipe")]);
        assert!(!doors.is_partial);
        assert_eq!(Doors::find(&root.join("other/s.sock")).paths, [root.join("other/s.sock")]);
        assert_eq!(Doors::find(&root.join("skill/link")), Doors::default());
    }

    #[test]
    fn a_folder_with_too_much_in_it_is_looked_at_in_part() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..=MAX_ENTRIES {
            std::fs::File::create(folder.path().join(number.to_string())).unwrap();
        }
        assert!(Doors::find(&folder.path().canonicalize().unwrap()).is_partial);
    }
}
