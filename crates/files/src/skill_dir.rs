//! One skill's folder, opened once and read without ever leaving it.

mod content;
mod kind;
mod listing;

use std::ffi::OsStr;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt, PermissionsExt};
use rustix::fs::OFlags;

pub(crate) use self::content::HEAD;
pub use self::content::{Binary, Content, PAGE, TextPage};
pub use self::kind::BinaryKind;
pub use self::listing::{LeftOut, LeftOutReason, ListBounds, Listed, ListedLink, Listing};
use crate::document_name::DocumentName;
use crate::entries::each_entry;
use crate::open::{FOLDER, open_unlinked};
use crate::{Error, RelativePath};

/// A skill's folder.
///
/// The folder is held by its descriptor: when it is renamed or replaced, reads go on in the folder that was opened.
/// Links are followed as long as they stay inside, relative ones only; a link that leads out is [`Error::Outside`] and
/// nothing behind it is opened. Only regular files are read, so a FIFO or a device never makes anyone wait.
///
/// ```
/// # use metier_testkit::Workspace;
/// use metier_files::{Error, SkillDir};
///
/// # let workspace = Workspace::new()
/// #     .skill("greet", "Greets.")
/// #     .file("greet/references/tone.md", "Be kind.")
/// #     .symlink("greet/secret", "/etc/passwd");
/// # let folder = workspace.join("greet");
/// let skill = SkillDir::open(&folder)?;
/// assert_eq!(skill.read_document(1 << 20)?.name.as_str(), "SKILL.md");
/// assert_eq!(skill.read(&"references/tone.md".parse()?, 1024)?, b"Be kind.");
/// assert!(matches!(skill.read(&"secret".parse()?, 1024), Err(Error::Outside { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SkillDir {
    dir: Dir,
}

/// A part of a file, as [`SkillDir::read_page`] gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where it begins.
    pub offset: u64,
    /// What is there.
    pub bytes: Vec<u8>,
    /// How large the whole file is.
    pub size: u64,
}

impl Page {
    /// Where the next page begins, if there is one.
    pub fn next_offset(&self) -> Option<u64> {
        let end = self.offset.saturating_add(self.bytes.len() as u64);
        (end < self.size && !self.bytes.is_empty()).then_some(end)
    }
}

/// A skill's `SKILL.md`, under the name it was found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// `SKILL.md`, or what stands for it.
    pub name: DocumentName,
    /// All of its bytes.
    pub bytes: Vec<u8>,
}

impl SkillDir {
    /// Opens the folder. Links on the way to it are followed: which folder may be opened is the caller's decision.
    pub fn open(path: &Path) -> Result<Self, Error> {
        match Dir::open_ambient_dir(path, ambient_authority()) {
            Ok(dir) => Ok(Self { dir }),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                Err(Error::NotAFolder { path: path.to_owned() })
            }
            Err(error) => Err(Error::from_io(path, error)),
        }
    }

    /// All of one file, or [`Error::TooLarge`] when it has more than `limit` bytes.
    pub fn read(&self, path: &RelativePath, limit: u64) -> Result<Vec<u8>, Error> {
        let (file, metadata) = self.open_file(path)?;
        read_whole(file, path.as_path(), metadata.len(), limit)
    }

    /// At most `limit` bytes of one file, from `offset`. A page beyond the end is empty.
    pub fn read_page(&self, path: &RelativePath, offset: u64, limit: u64) -> Result<Page, Error> {
        let (mut file, metadata) = self.open_file(path)?;
        let size = metadata.len();
        let bytes = file
            .seek(SeekFrom::Start(offset))
            .and_then(|_| read_some(&mut file, limit, size.saturating_sub(offset)))
            .map_err(|error| Error::from_io(path.as_path(), error))?;
        Ok(Page { offset, bytes, size })
    }

    /// At most `limit` bytes of one file from `offset`, as text: cut at the end of a line where there is one, never inside
    /// a character. A file that is no text is described instead.
    pub fn read_text(&self, path: &RelativePath, offset: u64, limit: u64) -> Result<Content, Error> {
        let (file, metadata) = self.open_file(path)?;
        content::read(&file, metadata.len(), offset, limit)
            .map_err(|error| Error::from_io(path.as_path(), error))
    }

    /// One file's size and whether it may be executed, without reading it.
    pub fn look_at(&self, path: &RelativePath) -> Result<Listed, Error> {
        let (_, metadata) = self.open_file(path)?;
        let executable = metadata.permissions().mode() & 0o111 != 0;
        Ok(Listed { path: path.clone(), size: metadata.len(), executable })
    }

    /// A folder inside this one, which cannot be left either, not even back into this one.
    pub fn folder(&self, path: &RelativePath) -> Result<Self, Error> {
        match self.dir.open_dir(path) {
            Ok(dir) => Ok(Self { dir }),
            // A file in the folder's place is told from nothing at all; a file on the way to it is nothing.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => match self.dir.metadata(path) {
                Ok(_) => Err(Error::NotAFolder { path: path.as_path().to_owned() }),
                Err(_) => Err(Error::NotFound { path: path.as_path().to_owned() }),
            },
            Err(error) => Err(Error::from_io(path.as_path(), error)),
        }
    }

    /// The `SKILL.md`, or the `skill.md` (in any mixture of cases) where there is none.
    pub fn read_document(&self, limit: u64) -> Result<Document, Error> {
        let name = self.document_name()?;
        let path = RelativePath::below(None, OsStr::new(name.as_str()));
        Ok(Document { bytes: self.read(&path, limit)?, name })
    }

    /// All files below the folder, in order of their paths.
    pub fn list(&self, bounds: ListBounds) -> Result<Listing, Error> {
        listing::list(&self.dir, bounds)
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    fn document_name(&self) -> Result<DocumentName, Error> {
        let here = Path::new(DocumentName::CANONICAL);
        match self.dir.symlink_metadata(here) {
            Ok(_) => return Ok(DocumentName::canonical()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::from_io(here, error)),
        }
        let failed = |error: rustix::io::Errno| Error::from_io(here, error.into());
        let folder = open_unlinked(self.dir.as_fd(), c".", FOLDER).map_err(failed)?;
        let mut best = None::<DocumentName>;
        each_entry(folder.as_fd(), &mut Vec::new(), |name, _| {
            DocumentName::keep_better(&mut best, name.to_bytes());
            ControlFlow::Continue(())
        })
        .map_err(failed)?;
        best.ok_or_else(|| Error::NotFound { path: here.to_owned() })
    }

    fn open_file(&self, path: &RelativePath) -> Result<(File, Metadata), Error> {
        let mut options = OpenOptions::new();
        // NONBLOCK so that opening a FIFO returns; NOCTTY so that a terminal does not become ours.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        options.read(true).custom_flags(i32::try_from(flags).unwrap_or_default());
        let failed = |error| Error::from_io(path.as_path(), error);
        let file = self.dir.open_with(path, &options).map_err(failed)?;
        // Asked of the opened file and not of the path, which could be another file by now.
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Error::IsAFolder { path: path.as_path().to_owned() });
        }
        if !metadata.is_file() {
            return Err(Error::NotAFile { path: path.as_path().to_owned() });
        }
        Ok((file, metadata))
    }
}

/// All of a file that had `size` bytes when it was opened, or [`Error::TooLarge`].
pub(crate) fn read_whole(file: impl Read, path: &Path, size: u64, limit: u64) -> Result<Vec<u8>, Error> {
    let too_large = |actual| Error::TooLarge { path: path.to_owned(), limit, actual };
    if size > limit {
        return Err(too_large(size));
    }
    // One byte more than allowed is asked for: the file may have grown since its size was taken.
    let bytes =
        read_some(file, limit.saturating_add(1), size).map_err(|error| Error::from_io(path, error))?;
    let actual = bytes.len() as u64;
    if actual > limit { Err(too_large(actual)) } else { Ok(bytes) }
}

/// Reads up to `limit` bytes, with room made for `expected` of them at once.
fn read_some(file: impl Read, limit: u64, expected: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(limit.min(expected)).unwrap_or_default());
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
