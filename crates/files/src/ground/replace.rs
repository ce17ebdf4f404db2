//! Writing a file beneath a folder, as a whole.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags, linkat, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::{Ground, GroundFile, failed};
use crate::document;
use crate::open::{FILE, FOLDER, open_unlinked};
use crate::{Error, FileDigest, RelativePath};

/// The largest file that is compared before it is replaced. Whoever replaces one has read it, within limits of its own.
const MAX_BYTES: u64 = 64 << 20;

/// Names to try for the temporary file. One is enough unless a dead process with our number left its files behind.
const MAX_NAMES: usize = 100;

/// What is at a place that is about to be written. Anything else is [`Error::Changed`]: whoever decided about the write saw
/// another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Nothing,
    /// A file with these bytes.
    File(FileDigest),
}

impl Expected {
    /// A file with these bytes.
    pub fn bytes(bytes: &[u8]) -> Self {
        Self::File(FileDigest::of(bytes))
    }
}

impl Ground {
    /// Replaces a file as a whole, by the place that [`Ground::resolve`] gave: whoever reads it sees the old bytes or the
    /// new ones, also after a power cut. Folders above it are made as needed. An existing file keeps its permissions and,
    /// where we may, its owner.
    pub fn replace(&self, place: &RelativePath, bytes: &[u8], expected: &Expected) -> Result<(), Error> {
        let folder = self.make_way(place)?;
        let name = c_name(place.file_name()).map_err(|error| failed(place, error))?;
        let (mut file, temporary) = create_beside(folder.as_fd()).map_err(|error| failed(place, error))?;
        let written = fill(&mut file, bytes, folder.as_fd(), &name, place, expected).and_then(|()| {
            put(folder.as_fd(), &temporary, &name, expected).map_err(|error| match error {
                Errno::EXIST => Error::Changed { path: place.as_path().to_owned() },
                error => failed(place, error),
            })
        });
        // Renamed, it is not there any more; linked or failed, it is in the way. The first error is the one to report.
        let _ = unlinkat(folder.as_fd(), &temporary, AtFlags::empty());
        written?;
        // The new name is on the disk only when the folder is. A file system that cannot do this has done what it can.
        let _ = rustix::fs::fsync(&folder);
        Ok(())
    }

    /// Opens the folder that a file is to be in, and makes it where it is missing.
    fn make_way(&self, place: &RelativePath) -> Result<OwnedFd, Error> {
        let failed = |error| failed(place, error);
        let mut folder = open_unlinked(self.dir.as_fd(), c".", FOLDER).map_err(failed)?;
        for step in place.as_path().parent().into_iter().flat_map(std::path::Path::components) {
            let name = c_name(step.as_os_str()).map_err(failed)?;
            folder = match open_unlinked(folder.as_fd(), &name, FOLDER) {
                Err(Errno::NOENT) => {
                    match mkdirat(&folder, &name, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(failed(error)),
                    }
                    open_unlinked(folder.as_fd(), &name, FOLDER).map_err(failed)?
                }
                opened => opened.map_err(failed)?,
            };
        }
        Ok(folder)
    }
}

/// A new file in the same folder, since a rename does not cross file systems.
fn create_beside(folder: BorrowedFd<'_>) -> Result<(File, CString), Errno> {
    static NEXT: AtomicU32 = AtomicU32::new(0);

    // EXCL never opens what somebody else put there, a link least of all.
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    for _ in 0..MAX_NAMES {
        // Without the file's own name in it, which may be as long as a name can be.
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let hidden = c_name(OsStr::new(&format!(".metier-{}-{next}.tmp", process::id())))?;
        match openat(folder, &hidden, flags, Mode::from_raw_mode(0o666)) {
            Ok(opened) => return Ok((File::from(opened), hidden)),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Errno::EXIST)
}

/// Writes the new bytes, once what is at the place is what was expected.
fn fill(
    file: &mut File,
    bytes: &[u8],
    folder: BorrowedFd<'_>,
    name: &CString,
    place: &RelativePath,
    expected: &Expected,
) -> Result<(), Error> {
    let changed = || Error::Changed { path: place.as_path().to_owned() };
    let existing = match (open_unlinked(folder, name, FILE), expected) {
        (Err(Errno::NOENT), Expected::Nothing) => None,
        (Err(Errno::NOENT), Expected::File(_)) => return Err(changed()),
        (Err(error), _) => return Err(failed(place, error)),
        (Ok(opened), expected) => {
            let existing = GroundFile::new(opened, place)?;
            let Expected::File(digest) = expected else { return Err(changed()) };
            if FileDigest::of(&existing.read(MAX_BYTES)?) != *digest {
                return Err(changed());
            }
            Some(existing.metadata()?)
        }
    };
    document::fill(file, bytes, existing.as_ref(), 0o7777)
        .map_err(|error| Error::from_io(place.as_path(), error))
}

/// Gives the new file its name. Where nothing was expected, nothing is replaced: a link fails where something is.
fn put(
    folder: BorrowedFd<'_>,
    temporary: &CString,
    name: &CString,
    expected: &Expected,
) -> Result<(), Errno> {
    match expected {
        Expected::File(_) => renameat(folder, temporary, folder, name),
        Expected::Nothing => match linkat(folder, temporary, folder, name, AtFlags::empty()) {
            // Some file systems know no second names; there the moment since it was looked at has to do.
            Err(Errno::PERM | Errno::OPNOTSUPP) => renameat(folder, temporary, folder, name),
            linked => linked,
        },
    }
}

fn c_name(name: &OsStr) -> Result<CString, Errno> {
    CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_keeps_its_mode() {
        let workspace = Workspace::new().executable("g/run.sh", "old").file("g/a", "a");
        let ground = Ground::open(&workspace.join("g")).unwrap();
        let write =
            |path: &str, bytes: &[u8], expected| ground.replace(&path.parse().unwrap(), bytes, &expected);
        write("run.sh", b"new", Expected::bytes(b"old")).unwrap();
        assert_eq!(fs::read(workspace.join("g/run.sh")).unwrap(), b"new");
        assert_eq!(fs::metadata(workspace.join("g/run.sh")).unwrap().mode() & 0o777, 0o755);
        write("deep/er/b", b"b", Expected::Nothing).unwrap();
        assert_eq!(fs::read(workspace.join("g/deep/er/b")).unwrap(), b"b");
        // What is other than expected stays as it is, and nothing is left behind.
        for expected in [Expected::Nothing, Expected::bytes(b"b")] {
            assert!(matches!(write("a", b"x", expected), Err(Error::Changed { .. })), "{expected:?}");
        }
        assert!(matches!(write("none", b"x", Expected::bytes(b"")), Err(Error::Changed { .. })));
        assert_eq!(fs::read(workspace.join("g/a")).unwrap(), b"a");
        let mut names: Vec<_> =
            fs::read_dir(workspace.join("g")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a", "deep", "run.sh"]);
    }

    #[test]
    fn nothing_is_written_through_a_link_nor_over_anything_but_a_file() {
        let workspace = Workspace::new()
            .dir("outside")
            .file("outside/kept", "kept")
            .symlink("g/out", "../outside")
            .symlink("g/link", "../outside/kept")
            .fifo("g/pipe")
            .dir("g/folder");
        let ground = Ground::open(&workspace.join("g")).unwrap();
        for path in ["out/new", "out/kept", "link", "pipe", "folder"] {
            for expected in [Expected::Nothing, Expected::bytes(b"kept")] {
                assert!(ground.replace(&path.parse().unwrap(), b"x", &expected).is_err(), "{path}");
            }
        }
        assert_eq!(fs::read(workspace.join("outside/kept")).unwrap(), b"kept");
        assert_eq!(fs::read_dir(workspace.join("outside")).unwrap().count(), 1);
    }
}
