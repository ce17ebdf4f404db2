use std::os::fd::AsFd;
use std::path::PathBuf;

use cap_std::fs::{Dir, PermissionsExt};
use rustix::io::Errno;

use crate::tree::{self, What};
use crate::{Error, Extent, OsError, RelativePath};

/// How much of a folder is listed. Both bounds exist because a skill's folder is a stranger's: a million files or a folder nested
/// a thousand deep must cost a message, not a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListBounds {
    /// Files and folders that are looked at. Real skills have a dozen files and rarely more than a few hundred.
    pub entries: usize,
    /// Folders inside folders.
    pub depth: usize,
}

impl Default for ListBounds {
    fn default() -> Self {
        Self { entries: 10_000, depth: 16 }
    }
}

/// What a skill's folder holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The files that can be read, by path. Anything called `.git` is not among them.
    pub files: Vec<Listed>,
    /// What is there and cannot be read, by path.
    pub left_out: Vec<LeftOut>,
    /// Every link, by path, wherever it leads. One to a file inside is among `files` as well.
    pub links: Vec<ListedLink>,
    /// Truncated when a bound was reached.
    pub extent: Extent,
}

/// One file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Where it is.
    pub path: RelativePath,
    /// Its size in bytes.
    pub size: u64,
    /// Whether anybody may execute it.
    pub executable: bool,
}

/// A symbolic link in a skill's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedLink {
    /// Where it is.
    pub path: RelativePath,
    /// What is written in it, not resolved; empty where it could not be read.
    pub target: PathBuf,
}

/// Something in a skill's folder that cannot be read as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Where it is.
    pub path: RelativePath,
    /// Why it is left out.
    pub reason: LeftOutReason,
}

/// Why something is not listed as a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// A link out of the folder.
    #[error("a link that leads outside the folder")]
    LinkOutside,
    /// A link to nothing, or to itself.
    #[error("a link that leads nowhere")]
    LinkBroken,
    /// A link to a folder inside: what is in it is listed where it really is.
    #[error("a link to a folder")]
    LinkedFolder,
    /// A FIFO, a socket or a device.
    #[error("not a regular file")]
    NotAFile,
    /// The system refused.
    #[error("unreadable: {0}")]
    Unreadable(OsError),
}

pub(super) fn list(dir: &Dir, bounds: ListBounds) -> Result<Listing, Error> {
    let tree = tree::walk(dir.as_fd(), bounds).map_err(|error| Error::from_io(".".as_ref(), error.into()))?;
    let mut listing =
        Listing { files: Vec::new(), left_out: Vec::new(), links: Vec::new(), extent: tree.extent };
    for entry in tree.entries {
        let path = entry.path;
        match entry.what {
            What::File { size, executable } => listing.files.push(Listed { path, size, executable }),
            What::Link => {
                let target = dir.read_link_contents(&path).unwrap_or_default();
                listing.links.push(ListedLink { path: path.clone(), target });
                match follow(dir, &path) {
                    Ok((size, executable)) => listing.files.push(Listed { path, size, executable }),
                    Err(reason) => listing.left_out.push(LeftOut { path, reason }),
                }
            }
            What::Special => listing.left_out.push(LeftOut { path, reason: LeftOutReason::NotAFile }),
            What::Unreadable(error) => {
                listing.left_out.push(LeftOut { path, reason: LeftOutReason::Unreadable(error) });
            }
            What::TooDeep => listing.extent = Extent::Truncated,
        }
    }
    Ok(listing)
}

/// A link to a file inside is as good as the file, since [`super::SkillDir::read`] follows it.
fn follow(dir: &Dir, path: &RelativePath) -> Result<(u64, bool), LeftOutReason> {
    match dir.metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            Ok((metadata.len(), metadata.permissions().mode() & 0o111 != 0))
        }
        Ok(metadata) if metadata.is_dir() => Err(LeftOutReason::LinkedFolder),
        Ok(_) => Err(LeftOutReason::NotAFile),
        Err(error) => {
            let system = OsError::from(&error);
            if system == OsError::from(Errno::LOOP) {
                return Err(LeftOutReason::LinkBroken);
            }
            Err(match Error::from_io(path.as_path(), error) {
                Error::Outside { .. } => LeftOutReason::LinkOutside,
                Error::NotFound { .. } => LeftOutReason::LinkBroken,
                _ => LeftOutReason::Unreadable(system),
            })
        }
    }
}
