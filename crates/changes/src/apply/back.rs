//! One step back: after one that failed, and for an undo.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use metier_files::FileDigest;
use rustix::fs::{AtFlags, RenameFlags, unlinkat};
use rustix::io::Errno;

use super::step::{Places, has_attributes, interruption_point};
use crate::change::{ChangeSet, EntryKind};
use crate::content::digest_at;
use crate::error::{ApplyError, Conflict, ConflictReason};
use crate::journal::{Journal, Outcome, Step};
use crate::path::LayerPath;
use crate::stamp::Stamp;

impl Places {
    /// Takes a step of a journal back, or finds that it was not taken. What another program has put in its place meanwhile stays.
    pub(super) fn take_back(&self, journal: &Journal, step: &Step) -> io::Result<()> {
        interruption_point();
        let path = step.path();
        let found = self.project.stamp(path)?;
        let is = |stamp: &Stamp| found.is_some_and(|found| found.is_same_file(stamp));
        match step {
            Step::MakeFolder { .. } if found.is_none() => Ok(()),
            Step::MakeFolder { .. } => {
                let (folder, name) = self.project.parent(path)?;
                match unlinkat(&folder, name, AtFlags::REMOVEDIR) {
                    Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::NOTDIR) => Ok(()),
                    Err(error) => Err(error.into()),
                }
            }
            Step::Place { new, .. } => {
                if is(new) {
                    self.project.rename_to(path, &self.upper, path, RenameFlags::NOREPLACE)?;
                    interruption_point();
                }
                if new.is_folder() { self.give_back(journal, path) } else { Ok(()) }
            }
            Step::Replace { new, .. } if is(new) => {
                self.project.rename_to(path, &self.upper, path, RenameFlags::EXCHANGE)
            }
            Step::Remove { slot, .. } => {
                let aside = self.slot(*slot);
                if self.old.stat(&aside)?.is_some() && found.is_none() {
                    self.old.rename_to(&aside, &self.project, path, RenameFlags::NOREPLACE)?;
                }
                Ok(())
            }
            Step::Open { old, .. } => match found {
                // What comes back from another file system is a copy, so its identity says nothing.
                Some(found) if is(old) || found.is_folder() && found.mode == old.mode | 0o700 => {
                    self.project.set_mode(path, old.mode & 0o777)
                }
                _ => Ok(()),
            },
            Step::Attributes { old, mode, modified, .. } => match found {
                Some(found) if is(old) && has_attributes(&found, *mode, *modified) => {
                    self.set_attributes(path, old.mode & 0o777, old.modified)
                }
                _ => Ok(()),
            },
            Step::Close { mode, .. } if found.as_ref().is_some_and(Stamp::is_folder) => {
                self.set_open(path, *mode)
            }
            Step::Replace { .. } | Step::Close { .. } => Ok(()),
        }
    }

    /// Takes a step again that an undo took back and could not finish. Nothing is compared: an undo compares before it begins.
    pub(super) fn take_again(&self, step: &Step) -> io::Result<()> {
        let path = step.path();
        let found = self.project.stamp(path)?;
        let is_waiting = |stamp: &Stamp| -> io::Result<bool> {
            Ok(self.upper.stamp(path)?.is_some_and(|waiting| waiting.is_same_file(stamp)))
        };
        match step {
            Step::MakeFolder { mode, .. } => {
                if found.is_none() {
                    self.project.make_folder(path)?;
                }
                self.set_open(path, *mode)
            }
            Step::Place { new, .. } if found.is_none() && is_waiting(new)? => {
                self.upper.rename_to(path, &self.project, path, RenameFlags::NOREPLACE)
            }
            Step::Replace { new, .. } if found.is_some() && is_waiting(new)? => {
                self.upper.rename_to(path, &self.project, path, RenameFlags::EXCHANGE)
            }
            Step::Remove { slot, .. } if found.is_some() && self.old.stat(&self.slot(*slot))?.is_none() => {
                self.project.rename_to(path, &self.old, &self.slot(*slot), RenameFlags::NOREPLACE)
            }
            Step::Open { old, .. } if found.as_ref().is_some_and(Stamp::is_folder) => {
                self.set_open(path, old.mode)
            }
            Step::Attributes { mode, modified, .. } if found.is_some() => {
                self.set_attributes(path, *mode, *modified)
            }
            Step::Close { mode, .. } if found.as_ref().is_some_and(Stamp::is_folder) => {
                self.project.set_mode(path, *mode)
            }
            Step::Place { .. }
            | Step::Replace { .. }
            | Step::Remove { .. }
            | Step::Open { .. }
            | Step::Attributes { .. }
            | Step::Close { .. } => Ok(()),
        }
    }

    /// Brings what another program put into a new folder back to where it was, after the folder itself was taken back. That
    /// happens between a stop of the machine and the recovery, and in the moment between a look and the step.
    fn give_back(&self, journal: &Journal, folder: &LayerPath) -> io::Result<()> {
        if self.upper.stat(folder)?.is_none() {
            return Ok(());
        }
        for name in self.upper.names(Some(folder))? {
            let path = folder.child(&name);
            if !journal.has(&path) {
                self.make_folders(folder)?;
                self.upper.rename_to(&path, &self.project, &path, RenameFlags::NOREPLACE)?;
            } else if self.upper.stamp(&path)?.is_some_and(|found| found.is_folder()) {
                self.give_back(journal, &path)?;
            }
        }
        Ok(())
    }

    /// Makes a folder of the project like that of the layer, with those above it.
    fn make_folders(&self, path: &LayerPath) -> io::Result<()> {
        if self.project.stat(path)?.is_some() {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            self.make_folders(&parent)?;
        }
        self.project.make_folder(path)?;
        self.set_open(path, self.upper.stat(path)?.map_or(0, |stat| stat.st_mode))
    }

    /// What of an applied set is not as it was applied. What was put into a folder that the set made is part of that: the folder
    /// goes with all that is in it.
    pub(super) fn changed_since(
        &self,
        journal: &Journal,
        changes: &ChangeSet,
    ) -> Result<Vec<Conflict>, ApplyError> {
        let mut opened = Vec::new();
        let conflicts = self.compare(journal, changes, &mut opened);
        for (path, mode) in opened.iter().rev() {
            let closed = self.project.set_mode(path, *mode);
            closed.map_err(|source| ApplyError::Io { path: path.clone(), source })?;
        }
        conflicts
    }

    /// The same. Folders that cannot be looked into are opened, and noted with their permissions.
    fn compare(
        &self,
        journal: &Journal,
        set: &ChangeSet,
        opened: &mut Vec<(LayerPath, u32)>,
    ) -> Result<Vec<Conflict>, ApplyError> {
        let paths = |wanted: fn(&Step) -> bool| -> BTreeSet<&LayerPath> {
            journal.steps.iter().filter(|step| wanted(step)).map(Step::path).collect()
        };
        let changed = paths(|step| matches!(step, Step::Attributes { .. }));
        let new_folders = paths(|step| matches!(step, Step::MakeFolder { .. }));
        let mut closed: BTreeMap<&LayerPath, u32> = journal
            .steps
            .iter()
            .filter_map(|step| if let Step::Close { path, mode } = step { Some((path, *mode)) } else { None })
            .collect();
        let known: BTreeMap<&LayerPath, FileDigest> = set
            .entries
            .iter()
            .filter_map(|change| Some((&change.path, change.entry.as_ref()?.digest?)))
            .collect();
        let mut buffer = Vec::new();
        let mut conflicts = Vec::new();
        let mut conflict = |path: &LayerPath, reason| conflicts.push(Conflict { path: path.clone(), reason });
        for Outcome { path, after } in &journal.paths {
            let mode = closed.remove(path);
            let (after, found) = match (after, self.look(path)?) {
                (None, None) => continue,
                (None, Some(_)) => {
                    conflict(path, ConflictReason::Appeared);
                    continue;
                }
                (Some(_), None) => {
                    conflict(path, ConflictReason::Gone);
                    continue;
                }
                (Some(after), Some(found)) => (after, found),
            };
            let is_ours = changed.contains(path) || new_folders.contains(path) || after.is_same_file(&found);
            let has_mode = mode.unwrap_or(after.mode & 0o777) == found.mode & 0o777;
            let is_same = found.is_folder() == after.is_folder()
                && (found.is_folder() || (after.size, after.modified) == (found.size, found.modified));
            // The permissions of a link mean nothing.
            if !is_ours || !is_same || (!has_mode && found.kind != Some(EntryKind::Link)) {
                conflict(path, ConflictReason::Changed);
            } else if let Some(expected) = known.get(path).filter(|_| !found.is_folder()) {
                // Size and time can be kept by an edit, and a rename changes the change time, so what it holds decides.
                if self.digest(path, &mut buffer)?.is_some_and(|digest| digest != *expected) {
                    conflict(path, ConflictReason::Changed);
                }
            } else if found.is_folder() && !changed.contains(path) {
                let io = |source: io::Error| ApplyError::Io { path: path.clone(), source };
                if found.mode & 0o500 != 0o500 {
                    opened.push((path.clone(), found.mode & 0o777));
                    self.set_open(path, found.mode).map_err(io)?;
                }
                let names = self.project.names(Some(path)).map_err(io)?;
                let inside = names.iter().map(|name| path.child(name));
                for new in inside.filter(|inside| !journal.has(inside)) {
                    conflict(&new, ConflictReason::Appeared);
                }
            }
        }
        // Folders that were there before and were opened for the steps.
        for (path, mode) in closed {
            if self.look(path)?.is_some_and(|found| found.mode & 0o777 != mode) {
                conflict(path, ConflictReason::Changed);
            }
        }
        // What was removed comes back into its folder.
        let parents = journal.steps.iter().filter(|step| matches!(step, Step::Remove { .. }));
        let parents: BTreeSet<LayerPath> = parents.filter_map(|step| step.path().parent()).collect();
        for parent in &parents {
            if !self.look(parent)?.as_ref().is_some_and(Stamp::is_folder) {
                conflict(parent, ConflictReason::Gone);
            }
        }
        Ok(conflicts)
    }

    /// What a file or link of the project holds; `None` where it cannot be read.
    fn digest(&self, path: &LayerPath, buffer: &mut Vec<u8>) -> Result<Option<FileDigest>, ApplyError> {
        let mut read = || {
            let stat = self.project.stat(path)?.ok_or(io::ErrorKind::NotFound)?;
            digest_at(&self.project, path, &stat, buffer)
        };
        match read() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
            read => read.map(Some).map_err(|source| ApplyError::Io { path: path.clone(), source }),
        }
    }

    /// The state of a path of the project. Where a link is on the way to it, there is nothing.
    fn look(&self, path: &LayerPath) -> Result<Option<Stamp>, ApplyError> {
        match self.project.stamp(path) {
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => Ok(None),
            found => found.map_err(|source| ApplyError::Io { path: path.clone(), source }),
        }
    }
}
