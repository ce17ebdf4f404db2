use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use cap_std::fs::Dir;
use rustix::fs::{FileType, Mode, OFlags, fchmod, fstat, openat, readlinkat, symlinkat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::TreeDigest;
use super::sum::Sum;
use crate::open::{FILE, open_unlinked};
use crate::tree::{self, TreeEntry, What, is_executable};
use crate::{Error, ListBounds, RelativePath, SkillDir};

/// Read and hashed at once: large enough that the system is asked rarely, small enough to stay in the processor's cache.
const CHUNK: usize = 64 * 1024;

const HEADER: &[u8; 22] = b"metier tree digest v1\n";

/// An installer's note beside the skill, see [`super::TreeDigest`].
const NOTE: &str = ".source.json";

/// What happens to links that lead to something which is not hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinksOut {
    /// They are an error: their content could change under an unchanged digest.
    Refused,
    /// They are hashed and copied as links, for whoever decides about links by themselves.
    Kept,
}

/// Hashes a skill; with `into`, copies what is hashed there. Gives the number of bytes as well.
pub(super) fn digest(skill: &SkillDir, links: LinksOut, into: Option<&Dir>) -> Result<(Sum, u64), Error> {
    let dir = skill.dir();
    let bounds = ListBounds { entries: TreeDigest::MAX_ENTRIES, depth: TreeDigest::MAX_DEPTH };
    let tree =
        tree::walk(dir.as_fd(), bounds).map_err(|error| Error::from_io(Path::new("."), error.into()))?;
    if !tree.extent.is_whole() {
        return Err(Error::TooManyFiles { limit: bounds.entries });
    }
    let mut hashing = Hashing {
        dir,
        into,
        links,
        hasher: Sha256::new(),
        room: TreeDigest::MAX_BYTES,
        chunk: vec![0; CHUNK],
    };
    hashing.hasher.update(HEADER);
    for entry in tree.entries.iter().filter(|entry| entry.path.as_bytes() != NOTE.as_bytes()) {
        hashing.add(entry)?;
    }
    let bytes = TreeDigest::MAX_BYTES - hashing.room;
    Ok((Sum::finish(hashing.hasher), bytes))
}

struct Hashing<'a> {
    dir: &'a Dir,
    /// Where a copy goes.
    into: Option<&'a Dir>,
    links: LinksOut,
    hasher: Sha256,
    /// Bytes that may still come.
    room: u64,
    chunk: Vec<u8>,
}

impl Hashing<'_> {
    fn add(&mut self, entry: &TreeEntry) -> Result<(), Error> {
        let path = &entry.path;
        let owned = || path.as_path().to_owned();
        match entry.what {
            What::File { .. } => self.add_file(path),
            What::Link => self.add_link(path),
            What::Special => Err(Error::NotAFile { path: owned() }),
            What::TooDeep => Err(Error::TooDeep { path: owned(), limit: TreeDigest::MAX_DEPTH }),
            What::Unreadable(error) => Err(Error::from_io(path.as_path(), error.into())),
        }
    }

    /// Size and execute bit are asked of the opened file, so they belong to the bytes that follow.
    fn add_file(&mut self, path: &RelativePath) -> Result<(), Error> {
        let failed = |error| Error::from_io(path.as_path(), error);
        let changed = || Error::Changed { path: path.as_path().to_owned() };
        let name = CString::new(path.as_bytes()).unwrap_or_default();
        let file = match open_unlinked(self.dir.as_fd(), &name, FILE) {
            Ok(file) => file,
            // It was a file when the folder was listed.
            Err(Errno::LOOP | Errno::NOENT | Errno::NOTDIR) => return Err(changed()),
            Err(error) => return Err(failed(error.into())),
        };
        let stat = fstat(&file).map_err(|error| failed(error.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(changed());
        }
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        self.room = self.room.checked_sub(size).ok_or_else(|| Error::TooManyBytes {
            path: path.as_path().to_owned(),
            limit: TreeDigest::MAX_BYTES,
        })?;
        let executable = is_executable(stat.st_mode);
        self.frame(if executable { b'X' } else { b'F' }, path, size);
        let mut copy = self.into.map(|into| new_file(into, path, executable)).transpose().map_err(failed)?;

        // One byte more than the size is asked for, so that a file that grew is noticed as well as one that shrank.
        let mut rest = File::from(file).take(size.saturating_add(1));
        let mut seen = 0_u64;
        loop {
            match rest.read(&mut self.chunk) {
                Ok(0) => break,
                Ok(count) => {
                    self.hasher.update(&self.chunk[..count]);
                    if let Some(copy) = &mut copy {
                        copy.write_all(&self.chunk[..count]).map_err(failed)?;
                    }
                    seen += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        if seen == size { Ok(()) } else { Err(changed()) }
    }

    fn add_link(&mut self, path: &RelativePath) -> Result<(), Error> {
        let failed = |error| Error::from_io(path.as_path(), error);
        let target =
            readlinkat(self.dir.as_fd(), path.as_path(), Vec::new()).map_err(|error| failed(error.into()))?;
        if self.links == LinksOut::Refused {
            self.check_target(path, target.to_bytes())?;
        }
        self.frame(b'L', path, target.to_bytes().len() as u64);
        self.hasher.update(target.to_bytes());
        if let Some(into) = self.into {
            make_parent(into, path).map_err(failed)?;
            symlinkat(target.as_c_str(), into, path.as_path()).map_err(|error| failed(error.into()))?;
        }
        Ok(())
    }

    /// Whether what a link leads to is hashed.
    fn check_target(&self, path: &RelativePath, target: &[u8]) -> Result<(), Error> {
        match self.dir.canonicalize(path) {
            Ok(real) if is_covered(&real) => {}
            Ok(real) => return Err(Error::NotCovered { path: path.as_path().to_owned(), target: real }),
            // A link to nothing is harmless: what could appear behind it would be a file of this tree.
            Err(error) => match Error::from_io(path.as_path(), error) {
                Error::NotFound { .. } if may_be_covered(target) => {}
                Error::Io { source, .. } if source.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {}
                Error::NotFound { .. } => {
                    let target = Path::new(OsStr::from_bytes(target)).to_owned();
                    return Err(Error::NotCovered { path: path.as_path().to_owned(), target });
                }
                other => return Err(other),
            },
        }
        Ok(())
    }

    fn frame(&mut self, kind: u8, path: &RelativePath, length: u64) {
        self.hasher.update([kind]);
        self.hasher.update((path.as_bytes().len() as u64).to_le_bytes());
        self.hasher.update(path.as_bytes());
        self.hasher.update(length.to_le_bytes());
    }
}

/// A new file of a copy. Its mode says no more than the digest does.
fn new_file(into: &Dir, path: &RelativePath, executable: bool) -> io::Result<File> {
    make_parent(into, path)?;
    let mode = Mode::from_raw_mode(if executable { 0o755 } else { 0o644 });
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(into, path.as_path(), flags, mode)?;
    // Whatever the user's mask takes away.
    fchmod(&file, mode)?;
    Ok(file.into())
}

fn make_parent(into: &Dir, path: &RelativePath) -> io::Result<()> {
    match path.as_path().parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => into.create_dir_all(parent),
        None => Ok(()),
    }
}

/// Whether the digest covers what is at this real path inside the folder.
fn is_covered(real: &Path) -> bool {
    real != Path::new(NOTE) && !real.components().any(|part| part == Component::Normal(OsStr::new(".git")))
}

/// The same for a link to nothing, by its text: what appears behind it later must not be something that is left out.
fn may_be_covered(target: &[u8]) -> bool {
    let target = Path::new(OsStr::from_bytes(target));
    is_covered(target) && target.file_name() != Some(OsStr::new(NOTE))
}
