//! From a layer to the list of what changed.

mod content;
mod meanwhile;
mod renames;

use self::content::Content;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use metier_files::FileDigest;
use rustix::fs::{FileType, Mode, OFlags, Stat, chmod};

use crate::beneath::Tree;
use crate::change::{Change, ChangeKind, ChangeSet, Entry, EntryKind, Refusal, RefusalDetail, RefusalReason};
use crate::content::MAX_HOLES;
use crate::error::{ConflictReason, LayerError};
use crate::layer::{CHANGES, Layer, Marks, Record};
use crate::lower::{Found, LiesOn, Lower, LowerSide, is_opaque, is_whiteout};
use crate::noted::Noted;
use crate::path::LayerPath;
use crate::stamp::{Stamp, Time, is_folder, kind};
use crate::xattr::has_same_attributes;

/// Bits that let a program run with its owner's rights. They are never applied.
const SET_ID: u32 = 0o6000;

/// How many bytes of replaced and deleted files one scan reads to note what they hold. Of a file beyond it only the change time is
/// known.
const MAX_COMPARED_BYTES: u64 = 256 << 20;

/// Compares a layer with what its call saw, and lists what the call changed. The list is also written down beside the layer,
/// so it survives this process.
///
/// Every process of the call has ended and the overlay is not mounted any more.
pub fn scan(layer: &Layer) -> Result<ChangeSet, LayerError> {
    let Record { marks, began, session, .. } = layer.record();
    let session = session.as_deref().map(|path| (path, *marks));
    let upper = layer.upper();
    let changed_mode = layer.changed_mode()?;
    // A script can close the project's own folder.
    chmod(&upper, Mode::RWXU).map_err(LayerError::io("open", &upper))?;
    let expected = layer.read(EXPECTED)?.unwrap_or_default();
    let noted = layer.noted()?;
    let mut changes =
        compare(&upper, layer.project(), session, *marks, Times { began: *began, expected, noted })?;
    if changed_mode.is_some() {
        changes.refused.insert(0, Refusal::new(LayerPath::project(), RefusalReason::ProjectFolder));
    }
    layer.write(CHANGES, &changes)?;
    Ok(changes)
}

/// Compares an upper folder with what it lies on.
pub(crate) fn compare(
    upper: &Path,
    project: &Path,
    session: Option<(&Path, Marks)>,
    marks: Marks,
    times: Times,
) -> Result<ChangeSet, LayerError> {
    let mut scan = Scan {
        buffer: RefCell::default(),
        holes_left: Cell::new(MAX_HOLES),
        compared_left: Cell::new(MAX_COMPARED_BYTES),
        before: RefCell::default(),
        linked: RefCell::default(),
        upper: Tree::open_quiet(upper)?,
        lower: Lower::open(project, session)?,
        marks,
        times,
        found: ChangeSet::default(),
        moved: BTreeMap::new(),
        taken_by_both: BTreeSet::new(),
        unsure: Vec::new(),
        waiting: vec![Waiting::Folder(None, LiesOn::Folder(LowerSide::Project))],
    };
    scan.run()?;
    scan.found.entries.sort_by(|left, right| left.path.cmp(&right.path));
    scan.found.refused.sort_by(|left, right| left.path.cmp(&right.path));
    scan.found.strays.sort();
    scan.pair_renames()?;
    scan.settle_unsure()?;
    scan.mark_moved();
    scan.mark_renamed()?;
    scan.mark_databases().map_err(LayerError::io("read", project))?;
    Ok(scan.found)
}

/// What tells whether another program changed a file of the project.
#[derive(Default)]
pub(crate) struct Times {
    /// When the call began.
    pub(crate) began: Option<Time>,
    /// The states of files that were seen at other times.
    pub(crate) expected: Expected,
    /// What was there then, as far as it was noted.
    pub(crate) noted: Noted,
}

/// The project's state of the paths that a session's layer lies on, when it came to lie there.
pub(crate) type Expected = BTreeMap<LayerPath, Stamp>;

/// Where a layer that was a session's keeps [`Expected`].
pub(crate) const EXPECTED: &str = "expected.json";

/// A folder that is looked at later. A list of them, since the depth of a script's folders is no limit for a stack.
enum Waiting {
    /// A folder of the layer.
    Folder(Option<LayerPath>, LiesOn),
    /// A folder that the layer hides, with everything in it.
    Hidden(LayerPath),
}

struct Scan {
    buffer: RefCell<Vec<u8>>,
    /// How many bytes of holes may still be hashed.
    holes_left: Cell<u64>,
    /// How many bytes of files of the project may still be read only to recognise an edit that keeps size and time.
    compared_left: Cell<u64>,
    /// The digests of files of the project that were read already.
    before: RefCell<BTreeMap<LayerPath, FileDigest>>,
    /// The digests of files of the layer that have several names.
    linked: RefCell<BTreeMap<u64, FileDigest>>,
    upper: Tree,
    lower: Lower,
    marks: Marks,
    times: Times,
    found: ChangeSet,
    /// Folders that another program took away, put there or exchanged while the call ran. What was done in them has no place.
    moved: BTreeMap<LayerPath, ConflictReason>,
    /// Files of the project that the call and another program both took away.
    taken_by_both: BTreeSet<LayerPath>,
    /// Files that look new and may be ones that another program took away.
    unsure: Vec<LayerPath>,
    waiting: Vec<Waiting>,
}

impl Scan {
    fn run(&mut self) -> Result<(), LayerError> {
        while let Some(next) = self.waiting.pop() {
            match next {
                Waiting::Folder(path, on) => self.folder(path.as_ref(), on)?,
                Waiting::Hidden(path) => {
                    for name in self.lower.names(Some(&path)).map_err(self.reading(Some(&path)))? {
                        self.deleted(&path.child(&name))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Lists what is never applied, whatever it is. Nothing below it is looked at.
    fn is_refused(&mut self, path: &LayerPath) -> bool {
        let above = [self.upper.path(), self.lower.tree(LowerSide::Project).path()];
        let above = above.map(|path| path.as_os_str().len()).into_iter().max().unwrap_or(0);
        let detail = if path.has_own_name() {
            RefusalDetail::OwnName
        } else if path.is_too_deep(above) {
            RefusalDetail::TooDeep
        } else {
            return false;
        };
        self.found.refused.push(Refusal::kept_out(path.clone(), detail));
        true
    }

    /// Looks at a folder of the layer.
    fn folder(&mut self, path: Option<&LayerPath>, on: LiesOn) -> Result<(), LayerError> {
        let names = self.upper_names(path)?;
        for name in &names {
            self.entry(&LayerPath::below(path, name), on)?;
        }
        if let LiesOn::CoveredFolder(_) = on {
            for name in self.lower.names(path).map_err(self.reading(path))? {
                if names.binary_search(&name).is_err() {
                    self.deleted(&LayerPath::below(path, &name))?;
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &LayerPath, on: LiesOn) -> Result<(), LayerError> {
        if self.is_refused(path) {
            return Ok(());
        }
        let Some(stat) = self.stat_upper(path)? else { return Ok(()) };
        let before = match on {
            LiesOn::Nothing(_) => None,
            LiesOn::Folder(_) | LiesOn::CoveredFolder(_) => self.find(path)?,
        };
        if is_whiteout(&stat) {
            if before.is_some() {
                return self.deleted(path);
            }
            if self.is_taken_away(path, on)? == Some(true) {
                self.taken_by_both.insert(path.clone());
            }
            self.found.strays.push(path.clone());
            return Ok(());
        }
        let Some(kind_after) = kind(&stat) else {
            let detail = match FileType::from_raw_mode(stat.st_mode) {
                FileType::Fifo => RefusalDetail::Pipe,
                FileType::Socket => RefusalDetail::Socket,
                _ => RefusalDetail::Device,
            };
            self.found.refused.push(Refusal::kept_out(path.clone(), detail));
            return Ok(());
        };
        if stat.st_mode & SET_ID != 0 && kind_after == EntryKind::File {
            self.found.refused.push(Refusal::new(path.clone(), RefusalReason::SetId));
        }
        let side = before.map_or_else(|| on.side(), |before| before.side);
        let kind_before = before.as_ref().and_then(|before| kind(&before.stat));
        let old = before.as_ref();
        match (before, kind_before, kind_after) {
            (Some(before), Some(EntryKind::Folder), EntryKind::Folder) => {
                if (stat.st_mode & 0o777) != before.shown_mode {
                    self.push(path, ChangeKind::Attributes, Some(&stat), old, Content::default(), side);
                }
                if !before.is_merged {
                    self.note_attributes(path, before.side)?;
                }
                if let Some(reason) = self.folder_conflict(path, &before)? {
                    self.moved.insert(path.clone(), reason);
                }
                let is_opaque = self.is_opaque(path)?;
                let on = if is_opaque { LiesOn::CoveredFolder } else { LiesOn::Folder };
                self.waiting.push(Waiting::Folder(Some(path.clone()), on(side)));
                Ok(())
            }
            (_, _, EntryKind::Folder) => {
                self.note_taken_away(path, &stat, on)?;
                let happened = if before.is_some() { ChangeKind::Modified } else { ChangeKind::Created };
                let content = self.folder_content(path, &stat)?;
                self.push(path, happened, Some(&stat), old, content, side);
                self.waiting.push(Waiting::Folder(Some(path.clone()), LiesOn::Nothing(side)));
                Ok(())
            }
            (_, Some(EntryKind::Folder), _) => {
                match self.content(&self.upper, path, kind_after, &stat)? {
                    Some(content) => {
                        if let Some(reason) = old.and_then(|old| self.replaced_folder(path, old)) {
                            self.moved.insert(path.clone(), reason);
                        }
                        self.push(path, ChangeKind::Modified, Some(&stat), old, content, side);
                        self.waiting.push(Waiting::Hidden(path.clone()));
                    }
                    None => self.too_sparse(path),
                }
                Ok(())
            }
            _ => {
                self.note_taken_away(path, &stat, on)?;
                self.file(path, &stat, old, kind_after, side)
            }
        }
    }

    /// A file or a link, where there was nothing, a file or a link.
    fn file(
        &mut self,
        path: &LayerPath,
        stat: &Stat,
        before: Option<&Found>,
        now: EntryKind,
        side: LowerSide,
    ) -> Result<(), LayerError> {
        let Some(content) = self.content(&self.upper, path, now, stat)? else {
            self.too_sparse(path);
            return Ok(());
        };
        let happened = match before {
            None => ChangeKind::Created,
            Some(Found { stat: old, side, .. }) => {
                // What cannot be compared is shown as changed.
                let is_like = kind(old) == Some(now) && old.st_size == stat.st_size;
                let old_content =
                    if is_like { self.content(self.lower.tree(*side), path, now, old)? } else { None };
                let old_digest = old_content.and_then(|old| old.digest);
                let is_same = is_like && old_digest.is_some() && old_digest == content.digest;
                if let Some(digest) = old_digest {
                    self.before.borrow_mut().insert(path.clone(), digest);
                }
                if is_same && now == EntryKind::File {
                    self.note_attributes(path, *side)?;
                }
                let (old, new) = (Stamp::of(old), Stamp::of(stat));
                if !is_same {
                    ChangeKind::Modified
                } else if now == EntryKind::File && old.mode & 0o777 != new.mode & 0o777 {
                    ChangeKind::Attributes
                } else if now == EntryKind::File && old.modified != new.modified {
                    ChangeKind::Times
                } else {
                    return Ok(());
                }
            }
        };
        self.push(path, happened, Some(stat), before, content, side);
        Ok(())
    }

    fn too_sparse(&mut self, path: &LayerPath) {
        self.found.refused.push(Refusal::kept_out(path.clone(), RefusalDetail::TooSparse));
    }

    /// Lists a file or folder of the same content whose extended attributes are others: those are not applied.
    fn note_attributes(&mut self, path: &LayerPath, side: LowerSide) -> Result<(), LayerError> {
        let open = |tree: &Tree| tree.open_entry(path, OFlags::RDONLY | OFlags::NONBLOCK);
        let both = open(&self.upper).and_then(|upper| Ok((upper, open(self.lower.tree(side))?)));
        let is_same = match both.and_then(|(upper, lower)| has_same_attributes(upper, lower)) {
            // What cannot be read here is opened, or found to be unreadable, when its content is read.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => true,
            is_same => is_same.map_err(self.reading(Some(path)))?,
        };
        if !is_same {
            self.found.refused.push(Refusal::new(path.clone(), RefusalReason::ExtendedAttributes));
        }
        Ok(())
    }

    /// Something of the project that is gone, with everything below it: each path is decided by itself.
    fn deleted(&mut self, path: &LayerPath) -> Result<(), LayerError> {
        let Some(before) = self.find(path)? else { return Ok(()) };
        if self.is_refused(path) {
            return Ok(());
        }
        self.push(path, ChangeKind::Deleted, None, Some(&before), Content::default(), before.side);
        if is_folder(&before.stat) {
            if let Some(reason) = self.replaced_folder(path, &before) {
                self.moved.insert(path.clone(), reason);
            }
            self.waiting.push(Waiting::Hidden(path.clone()));
        }
        Ok(())
    }

    /// Lists a change; `stat` and `content` are of what the layer has at the path.
    fn push(
        &mut self,
        path: &LayerPath,
        happened: ChangeKind,
        stat: Option<&Stat>,
        before: Option<&Found>,
        content: Content,
        side: LowerSide,
    ) {
        let after = stat.map(Stamp::of);
        let entry = |after: Stamp| {
            let kind = after.kind?;
            let mode = after.mode & !SET_ID;
            let bytes = if kind == EntryKind::Folder { 0 } else { after.size };
            Some(Entry { kind, mode, size: bytes, digest: content.digest, target: content.target })
        };
        let is_linked =
            |before: &Found| kind(&before.stat) == Some(EntryKind::File) && before.stat.st_nlink > 1;
        let (before_changed, before_digest) = self.state_before(path, before);
        let change = Change {
            path: path.clone(),
            kind: happened,
            entry: after.and_then(entry),
            renamed_from: None,
            breaks_hard_link: happened == ChangeKind::Modified && before.is_some_and(is_linked),
            conflict: before.and_then(|before| self.conflict(path, before)),
            in_session: side == LowerSide::Session,
            before: before.map(|before| Stamp::of(&before.stat)),
            before_changed,
            before_digest,
            after,
            is_unclean: content.is_unclean,
        };
        self.found.entries.push(change);
    }

    fn find(&self, path: &LayerPath) -> Result<Option<Found>, LayerError> {
        self.lower.find(path).map_err(self.reading(Some(path)))
    }

    fn stat_upper(&self, path: &LayerPath) -> Result<Option<Stat>, LayerError> {
        self.upper.stat(path).map_err(LayerError::io("read", self.upper.path_of(Some(path))))
    }

    /// The names in a folder of the layer. A script may have closed it to its own user; it is the user's own, so it is opened
    /// again. Its permissions are in the list by then.
    fn upper_names(&self, path: Option<&LayerPath>) -> Result<Vec<std::ffi::OsString>, LayerError> {
        let named = || self.upper.path_of(path);
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
        let mode = self.upper.stat(path)?.map_or(0, |stat| stat.st_mode & 0o777);
        self.upper.set_mode(path, mode | added)
    }

    /// Whether a folder of the layer hides the folder that it lies on.
    fn is_opaque(&self, path: &LayerPath) -> Result<bool, LayerError> {
        let named = || self.upper.path_of(Some(path));
        match is_opaque(&self.upper, path, self.marks) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.make_readable(Some(path), 0o700).map_err(LayerError::io("open", named()))?;
                is_opaque(&self.upper, path, self.marks)
            }
            found => found,
        }
        .map_err(LayerError::io("read the marks of", named()))
    }

    fn reading(&self, path: Option<&LayerPath>) -> impl FnOnce(io::Error) -> LayerError + use<> {
        LayerError::io("read", self.lower.tree(LowerSide::Project).path_of(path))
    }
}
