//! One step of applying, and back. Each is recognised as taken by the identity of the files, so that it can be repeated
//! after a stop at any moment.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, UTIME_OMIT, chmodat, flistxattr,
    fremovexattr, mkdirat, statat, unlinkat, utimensat,
};
use rustix::io::Errno;

use crate::beneath::Tree;
use crate::change::{ChangeKind, ChangeSet, EntryKind};
use crate::error::{ApplyError, Conflict, ConflictReason, LayerError};
use crate::journal::{Below, Journal, Step};
use crate::layer::Layer;
use crate::path::LayerPath;
use crate::stamp::{Stamp, Time};

/// The three folders between which entries move.
pub(crate) struct Places {
    project: Tree,
    upper: Tree,
    old: Tree,
}

/// Why a step was not taken.
pub(crate) enum Failed {
    Conflict(Conflict),
    Io { path: LayerPath, source: io::Error },
}

/// How the kernel's errors read for the project: a missing folder was deleted, a link in the way was put there.
fn failed(path: &LayerPath, source: io::Error) -> Failed {
    let reason = match source.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NOTDIR) => ConflictReason::Gone,
        Some(Errno::EXIST) => ConflictReason::Appeared,
        Some(Errno::LOOP) => ConflictReason::Link,
        _ => return Failed::Io { path: path.clone(), source },
    };
    Failed::Conflict(Conflict { path: path.clone(), reason })
}

fn conflict(path: &LayerPath, reason: ConflictReason) -> Failed {
    Failed::Conflict(Conflict { path: path.clone(), reason })
}

impl Places {
    pub(crate) fn open(layer: &Layer) -> Result<Self, LayerError> {
        let open = |path: std::path::PathBuf| Tree::open(&path).map_err(LayerError::io("open", path));
        Ok(Self {
            project: open(layer.project().to_owned())?,
            upper: open(layer.upper())?,
            old: open(layer.old())?,
        })
    }

    /// Whether the project is not as a step expects it.
    pub(crate) fn conflict(&self, step: &Step) -> Result<Option<Conflict>, ApplyError> {
        let path = step.path();
        let found = match self.project.stat(path) {
            Ok(found) => found.as_ref().map(Stamp::of),
            Err(error) => {
                return match failed(path, error) {
                    Failed::Conflict(conflict) => Ok(Some(conflict)),
                    Failed::Io { path, source } => Err(ApplyError::Io { path, source }),
                };
            }
        };
        let expected = match step {
            Step::MakeFolder { .. } | Step::Place { .. } => None,
            Step::Replace { old, .. } | Step::Remove { old, .. } | Step::Attributes { old, .. } => Some(old),
        };
        let reason = match (expected, found) {
            (None, None) => return Ok(None),
            (None, Some(_)) => ConflictReason::Appeared,
            (Some(_), None) => ConflictReason::Gone,
            (Some(expected), Some(found)) if expected.is_unchanged(&found) => return Ok(None),
            (Some(_), Some(_)) => ConflictReason::Changed,
        };
        Ok(Some(Conflict { path: path.clone(), reason }))
    }

    /// Removes the overlay's marks and the set-id bits from what will be moved, and gives files that were closed for the
    /// scan's sake their permissions.
    pub(crate) fn clean(
        &self,
        changes: &ChangeSet,
        selected: &BTreeSet<LayerPath>,
    ) -> Result<(), ApplyError> {
        // Innermost first: a folder that becomes closed cannot be entered any more.
        for change in changes.entries.iter().rev() {
            let Some(entry) = &change.entry else { continue };
            if !selected.contains(&change.path) || change.kind == ChangeKind::Attributes {
                continue;
            }
            let io = |source: io::Error| ApplyError::Io { path: change.path.clone(), source };
            if entry.kind != EntryKind::Link {
                let flags =
                    if entry.kind == EntryKind::Folder { OFlags::DIRECTORY } else { OFlags::NONBLOCK };
                let opened = self.upper.open_entry(&change.path, OFlags::RDONLY | flags).map_err(io)?;
                remove_marks(&opened).map_err(io)?;
            }
            let current = change.after.map_or(entry.mode, |after| after.mode);
            let found =
                self.upper.stat(&change.path).map_err(io)?.map_or(current, |stat| stat.st_mode & 0o7777);
            if entry.kind != EntryKind::Link && found != entry.mode {
                let (folder, name) = self.upper.parent(&change.path).map_err(io)?;
                chmodat(&folder, name, Mode::from_raw_mode(entry.mode), AtFlags::empty())
                    .map_err(|error| io(error.into()))?;
            }
        }
        Ok(())
    }

    /// Takes a step, or finds that it was taken.
    pub(crate) fn take(&self, step: &Step) -> Result<(), Failed> {
        interruption_point();
        let path = step.path();
        let io = |source: io::Error| failed(path, source);
        let found = self.project.stat(path).map_err(io)?.as_ref().map(Stamp::of);
        match step {
            Step::MakeFolder { mode, .. } => {
                if found.is_some_and(|found| found.kind == Some(EntryKind::Folder)) {
                    return Ok(());
                }
                let (folder, name) = self.project.parent(path).map_err(io)?;
                mkdirat(&folder, name, Mode::from_raw_mode(*mode)).map_err(|error| io(error.into()))
            }
            Step::Place { new, .. } => {
                if found.is_some_and(|found| found.is_same_file(new)) {
                    return Ok(());
                }
                self.upper.rename_to(path, &self.project, path, RenameFlags::NOREPLACE).map_err(io)
            }
            Step::Replace { old, new, below, .. } => {
                let is_taken = found.is_some_and(|found| found.is_same_file(new));
                if !is_taken {
                    check(path, found, old)?;
                    self.upper.rename_to(path, &self.project, path, RenameFlags::EXCHANGE).map_err(io)?;
                    interruption_point();
                }
                // Another program may have written between the look and the exchange.
                let moved = self.upper.stat(path).map_err(io)?;
                check(path, moved.as_ref().map(Stamp::of), old)?;
                check_below(&self.upper, path, path, below)
            }
            Step::Remove { old, below, slot, .. } => {
                let aside = slot_path(*slot);
                let moved = |places: &Self| places.old.stat(&aside).map_err(io);
                if moved(self)?.is_none() {
                    check(path, found, old)?;
                    self.project.rename_to(path, &self.old, &aside, RenameFlags::NOREPLACE).map_err(io)?;
                    interruption_point();
                }
                check(path, moved(self)?.as_ref().map(Stamp::of), old)?;
                check_below(&self.old, &aside, path, below)
            }
            Step::Attributes { old, mode, modified, .. } => {
                let found = found.ok_or_else(|| conflict(path, ConflictReason::Gone))?;
                if has_attributes(&found, *mode, *modified) {
                    return Ok(());
                }
                check(path, Some(found), old)?;
                self.set_attributes(path, *mode, *modified).map_err(io)
            }
        }
    }

    /// Takes a step back, or finds that it was not taken. What another program has put in its place meanwhile stays.
    pub(crate) fn take_back(&self, step: &Step) -> io::Result<()> {
        interruption_point();
        let path = step.path();
        let found = self.project.stat(path)?.as_ref().map(Stamp::of);
        match step {
            Step::MakeFolder { .. } => {
                if found.is_none() {
                    return Ok(());
                }
                let (folder, name) = self.project.parent(path)?;
                match unlinkat(&folder, name, AtFlags::REMOVEDIR) {
                    Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::NOTDIR) => Ok(()),
                    Err(error) => Err(error.into()),
                }
            }
            Step::Place { new, .. } => {
                if found.is_some_and(|found| found.is_same_file(new)) {
                    self.project.rename_to(path, &self.upper, path, RenameFlags::NOREPLACE)?;
                }
                Ok(())
            }
            Step::Replace { new, .. } => {
                if found.is_some_and(|found| found.is_same_file(new)) {
                    self.project.rename_to(path, &self.upper, path, RenameFlags::EXCHANGE)?;
                }
                Ok(())
            }
            Step::Remove { slot, .. } => {
                let aside = slot_path(*slot);
                if self.old.stat(&aside)?.is_some() && found.is_none() {
                    self.old.rename_to(&aside, &self.project, path, RenameFlags::NOREPLACE)?;
                }
                Ok(())
            }
            Step::Attributes { old, mode, modified, .. } => match found {
                Some(found) if found.is_same_file(old) && has_attributes(&found, *mode, *modified) => {
                    self.set_attributes(path, old.mode & 0o777, old.modified)
                }
                _ => Ok(()),
            },
        }
    }

    /// What of an applied set is not as it was applied.
    pub(crate) fn changed_since(
        &self,
        journal: &Journal,
        changes: &ChangeSet,
    ) -> Result<Vec<Conflict>, ApplyError> {
        let mut conflicts = Vec::new();
        for change in &changes.entries {
            let Some(step) = journal.steps.iter().find(|step| change.path.is_below(step.path())) else {
                continue;
            };
            let path = &change.path;
            let found = match self.project.stat(path) {
                // A link is where a folder was, so nothing is below it.
                Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => None,
                found => found.map_err(|source| ApplyError::Io { path: path.clone(), source })?,
            };
            let found = found.as_ref().map(Stamp::of);
            let reason = match (change.after, found) {
                (None, None) => continue,
                (None, Some(_)) => ConflictReason::Appeared,
                (Some(_), None) => ConflictReason::Gone,
                (Some(after), Some(found)) => {
                    let is_ours = matches!(step, Step::Attributes { .. } | Step::MakeFolder { .. })
                        || after.is_same_file(&found);
                    let is_folder = found.kind == Some(EntryKind::Folder);
                    if is_ours && (is_folder || (after.size, after.modified) == (found.size, found.modified))
                    {
                        continue;
                    }
                    ConflictReason::Changed
                }
            };
            conflicts.push(Conflict { path: path.clone(), reason });
        }
        Ok(conflicts)
    }

    fn set_attributes(&self, path: &LayerPath, mode: u32, modified: Time) -> io::Result<()> {
        let (folder, name) = self.project.parent(path)?;
        let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if Stamp::of(&stat).kind == Some(EntryKind::File) {
            let times = Timestamps {
                last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
                last_modification: Timespec { tv_sec: modified.seconds, tv_nsec: modified.nanoseconds },
            };
            utimensat(&folder, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Ok(chmodat(&folder, name, Mode::from_raw_mode(mode), AtFlags::empty())?)
    }
}

/// Whether a folder that was moved as a whole holds what it held when it was scanned, and nothing else.
fn check_below(tree: &Tree, moved: &LayerPath, from: &LayerPath, below: &[Below]) -> Result<(), Failed> {
    let mut expected: BTreeSet<&LayerPath> = below.iter().map(|below| &below.path).collect();
    for Below { path, old } in below {
        let Some(now) = moved_path(path, from, moved) else { continue };
        let found = tree.stat(&now).map_err(|source| failed(path, source))?;
        check(path, found.as_ref().map(Stamp::of), old)?;
        if old.kind == Some(EntryKind::Folder) {
            check_names(tree, &now, path, &expected)?;
        }
    }
    expected.insert(from);
    let is_folder = tree
        .stat(moved)
        .map_err(|source| failed(from, source))?
        .is_some_and(|stat: Stat| crate::stamp::kind(&stat) == Some(EntryKind::Folder));
    if is_folder { check_names(tree, moved, from, &expected) } else { Ok(()) }
}

fn check_names(
    tree: &Tree,
    now: &LayerPath,
    path: &LayerPath,
    expected: &BTreeSet<&LayerPath>,
) -> Result<(), Failed> {
    let names = tree.names(Some(now)).map_err(|source| failed(path, source))?;
    match names.iter().map(|name| path.child(name)).find(|child| !expected.contains(child)) {
        Some(new) => Err(conflict(&new, ConflictReason::Appeared)),
        None => Ok(()),
    }
}

/// Whether permissions and time are set. A folder's time changes with every entry, so it is never set.
fn has_attributes(found: &Stamp, mode: u32, modified: Time) -> bool {
    found.mode & 0o777 == mode && (found.kind == Some(EntryKind::Folder) || found.modified == modified)
}

/// Where the path is after the folder above it was moved.
fn moved_path(path: &LayerPath, from: &LayerPath, moved: &LayerPath) -> Option<LayerPath> {
    let inner = path.as_path().strip_prefix(from.as_path()).ok()?;
    LayerPath::new(moved.as_path().join(inner))
}

fn slot_path(slot: u32) -> LayerPath {
    LayerPath::top(slot.to_string().as_ref())
}

fn check(path: &LayerPath, found: Option<Stamp>, expected: &Stamp) -> Result<(), Failed> {
    match found {
        None => Err(conflict(path, ConflictReason::Gone)),
        Some(found) if expected.is_unchanged(&found) => Ok(()),
        Some(_) => Err(conflict(path, ConflictReason::Changed)),
    }
}

/// The overlay keeps notes in extended attributes. They mean nothing outside of it, and a script can set some itself.
fn remove_marks(file: impl AsFd) -> io::Result<()> {
    let mut names = vec![0; 4096];
    let length = match flistxattr(file.as_fd(), &mut names[..]) {
        Ok(length) => length,
        Err(Errno::OPNOTSUPP) => return Ok(()),
        Err(Errno::RANGE) => {
            names = vec![0; 64 << 10];
            flistxattr(file.as_fd(), &mut names[..])?
        }
        Err(error) => return Err(error.into()),
    };
    let marks = names[..length].split(|byte| *byte == 0);
    for mark in
        marks.filter(|name| name.starts_with(b"user.overlay.") || name.starts_with(b"trusted.overlay."))
    {
        fremovexattr(file.as_fd(), mark)?;
    }
    Ok(())
}

/// A moment at which the machine may stop. Tests stop here.
fn interruption_point() {
    #[cfg(test)]
    super::tests::maybe_stop();
}
