//! From a layer to the list of what changed.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

use metier_files::FileDigest;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, chmodat, fgetxattr, readlinkat};

use crate::beneath::Tree;
use crate::change::{Change, ChangeKind, ChangeSet, Entry, EntryKind, Refusal, RefusalReason};
use crate::error::{ConflictReason, LayerError};
use crate::layer::{CHANGES, Layer, Marks, Record};
use crate::path::LayerPath;
use crate::stamp::{Stamp, Time, changed, kind};

/// Bits that let a program run with its owner's rights. They are never applied.
const SET_ID: u32 = 0o6000;

/// Compares a layer with its project and lists what the call changed. The list is also written down beside the layer, so it
/// survives this process.
///
/// Every process of the call has ended and the overlay is not mounted any more.
pub fn scan(layer: &Layer) -> Result<ChangeSet, LayerError> {
    let open = |path: &std::path::Path| Tree::open(path).map_err(LayerError::io("open", path));
    let (upper, lower) = (open(&layer.upper())?, open(layer.project())?);
    let Record { marks, began, .. } = *layer.record();
    let mut scan = Scan { upper, lower, marks, began, found: ChangeSet::default(), moved: Vec::new() };
    scan.folder(None, LiesOn::Folder)?;
    scan.found.entries.sort_by(|left, right| left.path.cmp(&right.path));
    scan.pair_renames()?;
    scan.mark_moved();
    let changes = scan.found;
    layer.write(CHANGES, &changes)?;
    Ok(changes)
}

struct Scan {
    upper: Tree,
    lower: Tree,
    marks: Marks,
    /// When the call began.
    began: Time,
    found: ChangeSet,
    /// Folders of the project that another program moved there while the call ran.
    moved: Vec<LayerPath>,
}

impl Scan {
    /// Looks at a folder of the layer.
    fn folder(&mut self, path: Option<&LayerPath>, on: LiesOn) -> Result<(), LayerError> {
        let names = self.upper_names(path)?;
        for name in &names {
            let entry = path.map_or_else(|| LayerPath::top(name), |path| path.child(name));
            self.entry(&entry, on)?;
        }
        if on == LiesOn::CoveredFolder {
            for name in self.lower.names(path).map_err(self.reading(path))? {
                if names.binary_search(&name).is_err() {
                    let entry = path.map_or_else(|| LayerPath::top(&name), |path| path.child(&name));
                    self.deleted(&entry)?;
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &LayerPath, on: LiesOn) -> Result<(), LayerError> {
        let Some(stat) = self.stat_upper(path)? else { return Ok(()) };
        let before = match on {
            LiesOn::Nothing => None,
            LiesOn::Folder | LiesOn::CoveredFolder => {
                self.lower.stat(path).map_err(self.reading(Some(path)))?
            }
        };
        if is_whiteout(&stat) {
            if before.is_some() {
                return self.deleted(path);
            }
            self.found.strays.push(path.clone());
            return Ok(());
        }
        let Some(kind_after) = kind(&stat) else {
            self.found.refused.push(Refusal { path: path.clone(), reason: RefusalReason::Special });
            return Ok(());
        };
        if stat.st_mode & SET_ID != 0 && kind_after == EntryKind::File {
            self.found.refused.push(Refusal { path: path.clone(), reason: RefusalReason::SetId });
        }
        let kind_before = before.as_ref().and_then(kind);
        match (kind_before, kind_after) {
            (Some(EntryKind::Folder), EntryKind::Folder) => {
                if (stat.st_mode ^ before.map_or(0, |before| before.st_mode)) & 0o777 != 0 {
                    self.push(path, ChangeKind::Attributes, &stat, before.as_ref(), None);
                }
                if before.is_some_and(|before| self.was_moved(&before)) {
                    self.moved.push(path.clone());
                }
                let is_opaque = self.is_opaque(path)?;
                self.folder(Some(path), if is_opaque { LiesOn::CoveredFolder } else { LiesOn::Folder })
            }
            (_, EntryKind::Folder) => {
                let happened = if before.is_some() { ChangeKind::Modified } else { ChangeKind::Created };
                self.push(path, happened, &stat, before.as_ref(), None);
                self.folder(Some(path), LiesOn::Nothing)
            }
            (Some(EntryKind::Folder), _) => {
                let digest = self.digest(Side::Upper, path, kind_after)?;
                self.push(path, ChangeKind::Modified, &stat, before.as_ref(), Some(digest));
                self.deleted_below(path)
            }
            _ => self.file(path, &stat, before.as_ref(), kind_after),
        }
    }

    /// A file or a link, where there was nothing, a file or a link.
    fn file(
        &mut self,
        path: &LayerPath,
        stat: &Stat,
        before: Option<&Stat>,
        now: EntryKind,
    ) -> Result<(), LayerError> {
        let digest = self.digest(Side::Upper, path, now)?;
        let Some(before) = before else {
            self.push(path, ChangeKind::Created, stat, None, Some(digest));
            return Ok(());
        };
        let is_same = kind(before) == Some(now)
            && before.st_size == stat.st_size
            && self.digest(Side::Lower, path, now)? == digest;
        if !is_same {
            self.push(path, ChangeKind::Modified, stat, Some(before), Some(digest));
        } else if now == EntryKind::File {
            let (old, new) = (Stamp::of(before), Stamp::of(stat));
            if (old.mode & 0o777, old.modified) != (new.mode & 0o777, new.modified) {
                self.push(path, ChangeKind::Attributes, stat, Some(before), Some(digest));
            }
        }
        Ok(())
    }

    /// Something of the project that is gone, with everything below it: each path is decided by itself.
    fn deleted(&mut self, path: &LayerPath) -> Result<(), LayerError> {
        let Some(before) = self.lower.stat(path).map_err(self.reading(Some(path)))? else { return Ok(()) };
        self.found.entries.push(Change {
            path: path.clone(),
            kind: ChangeKind::Deleted,
            entry: None,
            renamed_from: None,
            breaks_hard_link: false,
            conflict: self.conflict(&before),
            before: Some(Stamp::of(&before)),
            after: None,
        });
        if kind(&before) == Some(EntryKind::Folder) { self.deleted_below(path) } else { Ok(()) }
    }

    fn deleted_below(&mut self, path: &LayerPath) -> Result<(), LayerError> {
        for name in self.lower.names(Some(path)).map_err(self.reading(Some(path)))? {
            self.deleted(&path.child(&name))?;
        }
        Ok(())
    }

    /// Whether another program changed a file of the project while the call ran. What is new in a folder of the project is
    /// judged by itself, so a folder's own time says nothing.
    fn conflict(&self, before: &Stat) -> Option<ConflictReason> {
        let is_folder = kind(before) == Some(EntryKind::Folder);
        (!is_folder && changed(before) >= self.began).then_some(ConflictReason::Changed)
    }

    /// Whether a folder of the project was moved or got other permissions while the call ran: both change its change time
    /// and leave the time of its content. The files in a folder that was moved there have times of long ago.
    fn was_moved(&self, before: &Stat) -> bool {
        changed(before) >= self.began && changed(before) != Stamp::of(before).modified
    }

    fn mark_moved(&mut self) {
        for change in &mut self.found.entries {
            if change.conflict.is_none() && self.moved.iter().any(|moved| change.path.is_below(moved)) {
                change.conflict = Some(ConflictReason::Gone);
            }
        }
    }

    /// Finds files that were probably renamed: a new file has the content of a deleted one. Where several deleted files had
    /// that content, the first by path counts.
    fn pair_renames(&mut self) -> Result<(), LayerError> {
        let mut created: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (index, change) in self.found.entries.iter().enumerate() {
            if let (ChangeKind::Created, Some(entry)) = (change.kind, &change.entry)
                && entry.kind == EntryKind::File
                && entry.size > 0
            {
                created.entry(entry.size).or_default().push(index);
            }
        }
        for index in 0..self.found.entries.len() {
            let change = &self.found.entries[index];
            let (ChangeKind::Deleted, Some(before)) = (change.kind, change.before) else { continue };
            let Some(same_size) = created.get_mut(&before.size) else { continue };
            if before.kind != Some(EntryKind::File) || same_size.is_empty() {
                continue;
            }
            let from = change.path.clone();
            let digest = Some(self.digest(Side::Lower, &from, EntryKind::File)?);
            let is_same = |at: &usize| {
                self.found.entries[*at].entry.as_ref().is_some_and(|entry| entry.digest == digest)
            };
            if let Some(at) = same_size.iter().position(is_same) {
                let to = same_size.remove(at);
                self.found.entries[to].renamed_from = Some(from);
            }
        }
        Ok(())
    }

    fn push(
        &mut self,
        path: &LayerPath,
        happened: ChangeKind,
        stat: &Stat,
        before: Option<&Stat>,
        digest: Option<FileDigest>,
    ) {
        let after = Stamp::of(stat);
        let is_folder = after.kind == Some(EntryKind::Folder);
        let Some(kind_after) = after.kind else { return };
        self.found.entries.push(Change {
            path: path.clone(),
            kind: happened,
            entry: Some(Entry {
                kind: kind_after,
                mode: after.mode & !SET_ID,
                size: if is_folder { 0 } else { after.size },
                digest,
            }),
            renamed_from: None,
            breaks_hard_link: happened == ChangeKind::Modified
                && before.is_some_and(|before| kind(before) == Some(EntryKind::File) && before.st_nlink > 1),
            conflict: before.and_then(|before| self.conflict(before)),
            before: before.map(Stamp::of),
            after: Some(after),
        });
    }

    fn stat_upper(&self, path: &LayerPath) -> Result<Option<Stat>, LayerError> {
        self.upper.stat(path).map_err(LayerError::io("read", self.upper.path().join(path.as_path())))
    }

    /// The names in a folder of the layer. A script may have closed it to its own user; it is the user's own, so it is opened
    /// again. Its permissions are in the list by then.
    fn upper_names(&self, path: Option<&LayerPath>) -> Result<Vec<std::ffi::OsString>, LayerError> {
        let named = || {
            path.map_or_else(|| self.upper.path().to_owned(), |path| self.upper.path().join(path.as_path()))
        };
        match self.upper.names(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.make_readable(path, 0o700).map_err(LayerError::io("open", named()))?;
                self.upper.names(path).map_err(LayerError::io("read", named()))
            }
            listed => listed.map_err(LayerError::io("read", named())),
        }
    }

    fn make_readable(&self, path: Option<&LayerPath>, added: u32) -> io::Result<()> {
        let Some(path) = path else { return Ok(()) };
        let (folder, name) = self.upper.parent(path)?;
        let mode = self.upper.stat(path)?.map_or(0, |stat| stat.st_mode & 0o777);
        Ok(chmodat(&folder, name, Mode::from_raw_mode(mode | added), AtFlags::empty())?)
    }

    /// Whether a folder of the layer hides the folder of the project that it lies on.
    fn is_opaque(&self, path: &LayerPath) -> Result<bool, LayerError> {
        let named = || self.upper.path().join(path.as_path());
        let folder = match self.upper.open_entry(path, OFlags::RDONLY | OFlags::DIRECTORY) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.make_readable(Some(path), 0o700).map_err(LayerError::io("open", named()))?;
                self.upper.open_entry(path, OFlags::RDONLY | OFlags::DIRECTORY)
            }
            opened => opened,
        };
        let folder = folder.map_err(LayerError::io("open", named()))?;
        let mut value = [0; 8];
        match fgetxattr(&folder, format!("{}opaque", self.marks.prefix()), &mut value[..]) {
            Ok(length) => Ok(value[..length] == *b"y"),
            Err(rustix::io::Errno::NODATA | rustix::io::Errno::OPNOTSUPP) => Ok(false),
            Err(error) => Err(LayerError::io("read the marks of", named())(error.into())),
        }
    }

    fn digest(&self, side: Side, path: &LayerPath, of: EntryKind) -> Result<FileDigest, LayerError> {
        let tree = match side {
            Side::Upper => &self.upper,
            Side::Lower => &self.lower,
        };
        let digest = || -> io::Result<FileDigest> {
            if of == EntryKind::Link {
                let (folder, name) = tree.parent(path)?;
                return Ok(FileDigest::of(readlinkat(&folder, name, Vec::new())?.to_bytes()));
            }
            let file = match tree.open_entry(path, OFlags::RDONLY | OFlags::NONBLOCK) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied && side == Side::Upper => {
                    self.make_readable(Some(path), 0o400)?;
                    tree.open_entry(path, OFlags::RDONLY | OFlags::NONBLOCK)
                }
                opened => opened,
            };
            digest_of(file?)
        };
        digest().map_err(LayerError::io("read", tree.path().join(path.as_path())))
    }

    fn reading(&self, path: Option<&LayerPath>) -> impl FnOnce(io::Error) -> LayerError + use<> {
        let root = self.lower.path();
        LayerError::io("read", path.map_or_else(|| root.to_owned(), |path| root.join(path.as_path())))
    }
}

/// What of the project a folder of the layer lies on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LiesOn {
    /// A folder that shows through.
    Folder,
    /// A folder that was deleted and made again, so that nothing shows through.
    CoveredFolder,
    /// No folder.
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Upper,
    Lower,
}

/// How the overlay marks what was deleted.
fn is_whiteout(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0
}

fn digest_of(file: OwnedFd) -> io::Result<FileDigest> {
    FileDigest::of_reader(std::fs::File::from(file))
}
