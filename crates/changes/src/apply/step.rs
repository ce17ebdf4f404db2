//! One step of applying, and back. Each is recognised as taken by the identity of the files, so that it can be repeated
//! after a stop at any moment.

use std::collections::BTreeSet;
use std::io;

use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, RenameFlags, Timespec, Timestamps, UTIME_OMIT, Uid, chmodat, chownat, statat,
    utimensat,
};
use rustix::io::Errno;

use crate::beneath::Tree;
use crate::change::{ChangeSet, EntryKind};
use crate::error::{ApplyError, Conflict, ConflictReason, LayerError};
use crate::journal::{Below, Outcome, Step};
use crate::layer::Layer;
use crate::path::LayerPath;
use crate::stage;
use crate::stamp::{Stamp, Time};
use crate::xattr::remove_marks;

/// The three folders between which entries move.
pub(crate) struct Places {
    /// Which journal, so that what two of them remove has two places.
    number: u32,
    pub(super) project: Tree,
    pub(super) upper: Tree,
    pub(super) old: Tree,
}

/// How the kernel's errors read for the project: a missing folder was deleted, a link in the way was put there.
pub(super) fn failed(path: &LayerPath, source: io::Error) -> ApplyError {
    match source.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NOTDIR) => conflict(path, ConflictReason::Gone),
        Some(Errno::EXIST) => conflict(path, ConflictReason::Appeared),
        Some(Errno::LOOP) => conflict(path, ConflictReason::Link),
        _ => ApplyError::Io { path: path.clone(), source },
    }
}

fn conflict(path: &LayerPath, reason: ConflictReason) -> ApplyError {
    ApplyError::Conflicts(vec![Conflict { path: path.clone(), reason }])
}

/// Whether the project is as a step expects it.
pub(super) fn check_before(project: &Tree, step: &Step) -> Result<(), ApplyError> {
    let path = step.path();
    let found = project.stamp(path).map_err(|source| failed(path, source))?;
    match step {
        Step::MakeFolder { .. } | Step::Place { .. } if found.is_some() => {
            Err(conflict(path, ConflictReason::Appeared))
        }
        Step::Replace { old, .. } | Step::Remove { old, .. } | Step::Attributes { old, .. } => {
            check(path, found, old)
        }
        Step::MakeFolder { .. } | Step::Place { .. } | Step::Open { .. } | Step::Close { .. } => Ok(()),
    }
}

impl Places {
    pub(crate) fn open(layer: &Layer, number: u32) -> Result<Self, LayerError> {
        let project = Tree::open(layer.project())?;
        let [upper, old] = stage::folders(layer);
        Ok(Self { number, project, upper: Tree::open_quiet(&upper)?, old: Tree::open_quiet(&old)? })
    }

    /// Opens the folders of the layer that something is moved out of. A script may have closed them to their owner; the
    /// permissions that the project gets are in the steps.
    pub(super) fn open_folders(&self, steps: &[Step]) -> Result<(), ApplyError> {
        let moved = steps.iter().filter(|step| matches!(step, Step::Place { .. } | Step::Replace { .. }));
        let mut folders = BTreeSet::new();
        for step in moved {
            folders.extend(std::iter::successors(step.path().parent(), LayerPath::parent));
        }
        // Outer folders come first.
        for path in folders {
            let io = |source: io::Error| ApplyError::Io { path: path.clone(), source };
            let Some(found) = self.upper.stat(&path).map_err(io)? else { continue };
            if found.st_mode & 0o700 != 0o700 {
                self.upper.set_mode(&path, found.st_mode & 0o777 | 0o700).map_err(io)?;
            }
        }
        Ok(())
    }

    /// Removes the overlay's marks and the set-id bits from what will be moved, and gives files that were opened for the
    /// scan's sake their permissions. Gives the state of each path afterwards.
    pub(crate) fn clean(
        &self,
        changes: &ChangeSet,
        selected: &BTreeSet<LayerPath>,
        steps: &[Step],
        is_staged: bool,
    ) -> Result<Vec<Outcome>, ApplyError> {
        let closing: BTreeSet<&LayerPath> =
            steps.iter().filter(|step| matches!(step, Step::Close { .. })).map(Step::path).collect();
        let mut outcomes = Vec::new();
        // Innermost first: a folder that becomes closed cannot be entered any more.
        for change in changes.entries.iter().rev() {
            if !selected.contains(&change.path) {
                continue;
            }
            let after = match (&change.entry, change.after) {
                (Some(entry), Some(after)) if !change.kind.is_in_place() => {
                    let added = if closing.contains(&change.path) { 0o700 } else { 0 };
                    // The copies on a stage are other files than those that were scanned.
                    if !change.is_unclean && !is_staged && added == 0 {
                        outcomes.push(Outcome { path: change.path.clone(), after: Some(after) });
                        continue;
                    }
                    let io = |source: io::Error| ApplyError::Io { path: change.path.clone(), source };
                    Some(self.clean_entry(&change.path, entry.kind, entry.mode | added).map_err(io)?)
                }
                (_, after) => after,
            };
            outcomes.push(Outcome { path: change.path.clone(), after });
        }
        outcomes.reverse();
        Ok(outcomes)
    }

    fn clean_entry(&self, path: &LayerPath, entry: EntryKind, mode: u32) -> io::Result<Stamp> {
        let (folder, name) = self.upper.parent(path)?;
        let found = Stamp::of(&statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?);
        if entry == EntryKind::Link {
            return Ok(found);
        }
        // The scan has opened what was closed to its owner, so this can be read.
        let flags = if entry == EntryKind::Folder { OFlags::DIRECTORY } else { OFlags::NONBLOCK };
        remove_marks(self.upper.open_entry(path, OFlags::RDONLY | flags)?)?;
        if found.mode != mode {
            chmodat(&folder, name, Mode::from_raw_mode(mode), AtFlags::empty())?;
        }
        // As it is, and not as it was meant to be: some file systems know less of permissions.
        Ok(Stamp::of(&statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Takes a step, or finds that it was taken.
    pub(crate) fn take(&self, step: &Step) -> Result<(), ApplyError> {
        interruption_point();
        let path = step.path();
        let io = |source: io::Error| failed(path, source);
        let found = self.project.stamp(path).map_err(io)?;
        match step {
            Step::MakeFolder { mode, .. } => {
                if !found.is_some_and(|found| found.is_folder()) {
                    self.project.make_folder(path).map_err(io)?;
                    self.give_like_the_layers(path).map_err(io)?;
                    interruption_point();
                }
                // Open until the end; `Step::Close` follows where it is not to stay so. The umask takes nothing away here.
                self.set_open(path, *mode).map_err(io)
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
                check(path, self.upper.stamp(path).map_err(io)?, old)?;
                check_below(&self.upper, path, path, old, below)
            }
            Step::Remove { old, below, slot, .. } => {
                let aside = self.slot(*slot);
                // What was moved aside is not in the project any more, unless something else is there now.
                let is_taken = !found.is_some_and(|found| found.is_same_file(old))
                    && self.old.stat(&aside).map_err(io)?.is_some();
                if !is_taken {
                    check(path, found, old)?;
                    self.project.rename_to(path, &self.old, &aside, RenameFlags::NOREPLACE).map_err(io)?;
                    interruption_point();
                }
                check(path, self.old.stamp(&aside).map_err(io)?, old)?;
                check_below(&self.old, &aside, path, old, below)
            }
            Step::Open { old, .. } => match found {
                Some(found) if found.is_same_file(old) => self.set_open(path, old.mode).map_err(io),
                // It was moved already, or the steps after this one find out that it is gone.
                _ => Ok(()),
            },
            Step::Attributes { old, mode, modified, .. } => {
                let found = found.ok_or_else(|| conflict(path, ConflictReason::Gone))?;
                if has_attributes(&found, *mode, *modified) {
                    return Ok(());
                }
                check(path, Some(found), old)?;
                self.set_attributes(path, *mode, *modified).map_err(io)
            }
            Step::Close { mode, .. } => match found {
                Some(found) if found.is_folder() => self.project.set_mode(path, *mode).map_err(io),
                _ => Err(conflict(path, ConflictReason::Gone)),
            },
        }
    }

    /// Gives a folder that root made in the project the owner that the layer's has: that of the project. In a container there may
    /// be no such user.
    pub(super) fn give_like_the_layers(&self, path: &LayerPath) -> io::Result<()> {
        let Some(like) = self.upper.stat(path)?.filter(|_| rustix::process::geteuid().is_root()) else {
            return Ok(());
        };
        let (user, group) = (Uid::from_raw(like.st_uid), Gid::from_raw(like.st_gid));
        let (folder, name) = self.project.parent(path)?;
        let _ = chownat(&folder, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW);
        Ok(())
    }

    /// Whether another program wrote to a file of the project after a step had moved it.
    pub(crate) fn written_since(&self, step: &Step) -> Result<(), ApplyError> {
        let path = step.path();
        let (moved, old) = match step {
            Step::Replace { old, .. } => (self.upper.stamp(path), old),
            Step::Remove { old, slot, .. } => (self.old.stamp(&self.slot(*slot)), old),
            _ => return Ok(()),
        };
        check(path, moved.map_err(|source| failed(path, source))?, old)
    }

    /// Where a removed entry is kept.
    pub(super) fn slot(&self, slot: u32) -> LayerPath {
        LayerPath::top(format!("{}-{slot}", self.number).as_ref())
    }

    /// Gives a folder permissions with which its owner can change it.
    pub(super) fn set_open(&self, path: &LayerPath, mode: u32) -> io::Result<()> {
        self.project.set_mode(path, mode & 0o777 | 0o700)
    }

    pub(super) fn set_attributes(&self, path: &LayerPath, mode: u32, modified: Time) -> io::Result<()> {
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
fn check_below(
    tree: &Tree,
    moved: &LayerPath,
    from: &LayerPath,
    top: &Stamp,
    below: &[Below],
) -> Result<(), ApplyError> {
    if top.kind != Some(EntryKind::Folder) {
        return Ok(());
    }
    let expected: BTreeSet<&LayerPath> = below.iter().map(|below| &below.path).collect();
    for Below { path, old } in below {
        let Some(now) = moved_path(path, from, moved) else { continue };
        check(path, tree.stamp(&now).map_err(|source| failed(path, source))?, old)?;
        if old.is_folder() {
            check_names(tree, &now, path, &expected)?;
        }
    }
    check_names(tree, moved, from, &expected)
}

fn check_names(
    tree: &Tree,
    now: &LayerPath,
    path: &LayerPath,
    expected: &BTreeSet<&LayerPath>,
) -> Result<(), ApplyError> {
    let names = tree.names(Some(now)).map_err(|source| failed(path, source))?;
    match names.iter().map(|name| path.child(name)).find(|child| !expected.contains(child)) {
        Some(new) => Err(conflict(&new, ConflictReason::Appeared)),
        None => Ok(()),
    }
}

/// Whether permissions and time are set. A folder's time changes with every entry, so it is never set.
pub(super) fn has_attributes(found: &Stamp, mode: u32, modified: Time) -> bool {
    found.mode & 0o777 == mode && (found.is_folder() || found.modified == modified)
}

/// Where the path is after the folder above it was moved.
fn moved_path(path: &LayerPath, from: &LayerPath, moved: &LayerPath) -> Option<LayerPath> {
    let inner = path.as_path().strip_prefix(from.as_path()).ok()?;
    LayerPath::new(moved.as_path().join(inner))
}

fn check(path: &LayerPath, found: Option<Stamp>, expected: &Stamp) -> Result<(), ApplyError> {
    match found {
        None => Err(conflict(path, ConflictReason::Gone)),
        Some(found) if expected.is_unchanged(&found) => Ok(()),
        Some(_) => Err(conflict(path, ConflictReason::Changed)),
    }
}

/// A moment at which the machine may stop. Tests stop here.
pub(crate) fn interruption_point() {
    #[cfg(test)]
    super::tests::maybe_stop();
}
