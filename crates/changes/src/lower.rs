//! What a call saw below its own layer: the project, or the session's layer on it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{FileType, OFlags, Stat, fgetxattr};
use rustix::io::Errno;

use crate::beneath::{Tree, if_there};
use crate::error::LayerError;
use crate::layer::Marks;
use crate::path::LayerPath;
use crate::stamp::is_folder;

/// The lower folders of an overlay, as one.
pub(crate) struct Lower {
    project: Tree,
    session: Option<Session>,
}

struct Session {
    tree: Tree,
    marks: Marks,
    /// Which of both can be seen in a folder. The answer for one path is needed for every entry in it.
    known: RefCell<BTreeMap<LayerPath, Seen>>,
}

/// Which of both trees an overlay looks at in a folder.
#[derive(Clone, Copy)]
struct Seen {
    session: bool,
    project: bool,
}

/// An entry that a call saw.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    /// Its state. Of a folder in both trees, that of the project.
    pub(crate) stat: Stat,
    /// Where it is.
    pub(crate) side: LowerSide,
    /// The permissions that the call saw.
    pub(crate) shown_mode: u32,
    /// Whether it is a folder in both trees.
    pub(crate) is_merged: bool,
}

/// A tree below a call's layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LowerSide {
    Project,
    Session,
}

/// What a folder of the layer lies on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LiesOn {
    /// A folder that shows through.
    Folder(LowerSide),
    /// A folder that was deleted and made again, so that nothing shows through.
    CoveredFolder(LowerSide),
    /// Nothing, or no folder.
    Nothing(LowerSide),
}

impl LiesOn {
    /// Where something new in the folder would go.
    pub(crate) fn side(self) -> LowerSide {
        match self {
            Self::Folder(side) | Self::CoveredFolder(side) | Self::Nothing(side) => side,
        }
    }
}

impl Found {
    fn new(stat: Stat, side: LowerSide) -> Self {
        Self { stat, side, shown_mode: stat.st_mode & 0o777, is_merged: false }
    }
}

impl Lower {
    /// The project, below the session's layer if there is one.
    pub(crate) fn open(project: &Path, session: Option<(&Path, Marks)>) -> Result<Self, LayerError> {
        let session = match session {
            // A session's layer that was discarded meanwhile shows nothing.
            Some((path, marks)) if path.exists() => {
                Some(Session { tree: Tree::open_quiet(path)?, marks, known: RefCell::default() })
            }
            _ => None,
        };
        Ok(Self { project: Tree::open_quiet(project)?, session })
    }

    pub(crate) fn tree(&self, side: LowerSide) -> &Tree {
        match (side, &self.session) {
            (LowerSide::Session, Some(session)) => &session.tree,
            _ => &self.project,
        }
    }

    /// What a call saw at a path; `None` where there was nothing.
    pub(crate) fn find(&self, path: &LayerPath) -> io::Result<Option<Found>> {
        let in_project = || Ok(self.project.stat(path)?.map(|stat| Found::new(stat, LowerSide::Project)));
        let Some(session) = &self.session else { return in_project() };
        let seen = session.seen(path.parent().as_ref())?;
        let above = if seen.session { session.tree.stat(path)? } else { None };
        let Some(above) = above else {
            return if seen.project { in_project() } else { Ok(None) };
        };
        if is_whiteout(&above) {
            return Ok(None);
        }
        if seen.project
            && is_folder(&above)
            && !is_opaque(&session.tree, path, session.marks)?
            && let Some(stat) = self.project.stat(path)?.filter(is_folder)
        {
            let shown_mode = above.st_mode & 0o777;
            return Ok(Some(Found { stat, side: LowerSide::Project, shown_mode, is_merged: true }));
        }
        Ok(Some(Found::new(above, LowerSide::Session)))
    }

    /// The names that a call saw in a folder, in order; in the top folder for `None`.
    pub(crate) fn names(&self, path: Option<&LayerPath>) -> io::Result<Vec<OsString>> {
        let Some(session) = &self.session else { return self.project.names(path) };
        let seen = session.seen(path)?;
        let mut names: BTreeSet<OsString> = BTreeSet::new();
        if seen.project {
            // A folder of the session's layer may lie on nothing, or on a file.
            names.extend(if_there(self.project.names(path))?.unwrap_or_default());
        }
        if seen.session {
            for name in session.tree.names(path)? {
                let entry = LayerPath::below(path, &name);
                if session.tree.stat(&entry)?.as_ref().is_some_and(is_whiteout) {
                    names.remove(&name);
                } else {
                    names.insert(name);
                }
            }
        }
        Ok(names.into_iter().collect())
    }
}

impl Session {
    /// Which trees show in a folder.
    fn seen(&self, folder: Option<&LayerPath>) -> io::Result<Seen> {
        let Some(folder) = folder else { return Ok(Seen { session: true, project: true }) };
        if let Some(seen) = self.known.borrow().get(folder) {
            return Ok(*seen);
        }
        let above = self.seen(folder.parent().as_ref())?;
        let entry = if above.session { self.tree.stat(folder)? } else { None };
        let seen = match entry {
            None => Seen { session: false, project: above.project },
            Some(entry) if is_folder(&entry) => {
                let is_opaque = is_opaque(&self.tree, folder, self.marks)?;
                Seen { session: true, project: above.project && !is_opaque }
            }
            Some(_) => Seen { session: false, project: false },
        };
        self.known.borrow_mut().insert(folder.clone(), seen);
        Ok(seen)
    }
}

/// How the overlay marks what was deleted.
pub(crate) fn is_whiteout(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0
}

/// Whether a folder of an upper tree hides the folder that it lies on.
pub(crate) fn is_opaque(tree: &Tree, path: &LayerPath, marks: Marks) -> io::Result<bool> {
    let folder = tree.open_entry(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mut value = [0; 8];
    match fgetxattr(&folder, opaque_mark(marks), &mut value[..]) {
        Ok(length) => Ok(value[..length] == *b"y"),
        // A longer value is not the overlay's.
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::RANGE) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The extended attribute of a folder that hides the one it lies on.
pub(crate) fn opaque_mark(marks: Marks) -> String {
    format!("{}opaque", marks.prefix())
}

/// How a note of the overlay about where an entry comes from begins: version, magic, length, flags, type, file system.
const ORIGIN_HEAD: usize = 21;
/// The second byte of such a note.
const ORIGIN_MAGIC: u8 = 0xfb;

/// Whether the overlay copied an upper entry from a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copied {
    /// It is new, or the overlay does not note it: so it is with files of several names.
    No,
    /// It is a copy. An ordinary user's overlay notes nothing else.
    Somewhere,
    /// It is a copy of this inode.
    From(u64),
}

/// What an upper entry is a copy of, as the overlay noted it. A contained process cannot write the note.
pub(crate) fn copied_from(entry: impl AsFd, marks: Marks) -> io::Result<Copied> {
    let mut value = [0; 160];
    match fgetxattr(entry, format!("{}origin", marks.prefix()), &mut value[..]) {
        Ok(length) => Ok(parse_origin(&value[..length]).map_or(Copied::Somewhere, Copied::From)),
        Err(Errno::RANGE) => Ok(Copied::Somewhere),
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(Copied::No),
        Err(error) => Err(error.into()),
    }
}

fn parse_origin(note: &[u8]) -> Option<u64> {
    let (head, handle) = note.split_at_checked(ORIGIN_HEAD)?;
    let is_own_order = head[3] & 1 == u8::from(cfg!(target_endian = "big"));
    if head[1] != ORIGIN_MAGIC || !is_own_order {
        return None;
    }
    let long = |at: usize| Some(u64::from_ne_bytes(handle.get(at..at + 8)?.try_into().ok()?));
    let short = |at: usize| Some(u64::from(u32::from_ne_bytes(handle.get(at..at + 4)?.try_into().ok()?)));
    match (head[4], handle.len()) {
        // ext4, xfs: inode, generation.
        (1, 8) => short(0),
        // tmpfs: generation, both halves of the inode.
        (1, 12) => Some(short(4)? | short(8)? << 32),
        // xfs with large inodes, btrfs.
        (0x81 | 0x4d, 12..) => long(0),
        _ => None,
    }
}
