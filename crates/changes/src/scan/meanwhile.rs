//! What other programs did to the project while the call ran.

use std::io;

use rustix::fs::{OFlags, Stat};

use super::Scan;
use crate::change::{ChangeKind, EntryKind};
use crate::database::changed_databases;
use crate::error::{ConflictReason, LayerError};
use crate::lower::{Copied, Found, LiesOn, LowerSide, copied_from};
use crate::noted::{Known, NotedEntry};
use crate::path::LayerPath;
use crate::stamp::{Stamp, changed, is_folder, kind};

impl Scan {
    /// Whether another program changed a file of the project while the call ran. What is new in a folder of the project is
    /// judged by itself, so a folder's own time says nothing.
    pub(super) fn conflict(&self, path: &LayerPath, before: &Found) -> Option<ConflictReason> {
        if is_folder(&before.stat) || before.side == LowerSide::Session {
            return None;
        }
        let is_changed = if let Some(began) = self.times.began {
            changed(&before.stat) >= began
        } else {
            let expected = self.times.expected.get(path);
            !expected.is_some_and(|expected| expected.is_unchanged(&Stamp::of(&before.stat)))
        };
        let is_new = self.times.noted.at(path) == Known::Absent;
        is_changed.then_some(if is_new { ConflictReason::Appeared } else { ConflictReason::Changed })
    }

    /// Whether something was at a path when the call began and another program took it away. The overlay does not tell: what the
    /// script wrote to a file that is gone since looks like a new file. `None` where it was not noted, and the folder was changed.
    pub(super) fn is_taken_away(&self, path: &LayerPath, on: LiesOn) -> Result<Option<bool>, LayerError> {
        let Some(began) = self.times.began else { return Ok(Some(false)) };
        let (LiesOn::Folder(LowerSide::Project) | LiesOn::CoveredFolder(LowerSide::Project)) = on else {
            return Ok(Some(false));
        };
        let project = self.lower.tree(LowerSide::Project);
        // The session's layer may hide what the project has.
        if project.stat(path).map_err(self.reading(Some(path)))?.is_some() {
            return Ok(Some(false));
        }
        match self.times.noted.at(path) {
            Known::Present(_) => Ok(Some(true)),
            Known::Absent => Ok(Some(false)),
            Known::Unknown => {
                // Removing an entry changes the time of its folder.
                let Some(parent) = path.parent() else { return Ok(None) };
                let parent = project.stat(&parent).map_err(self.reading(Some(&parent)))?;
                Ok(parent.is_some_and(|parent| changed(&parent) < began).then_some(false))
            }
        }
    }

    /// Notes a conflict where something that the script wrote to, or made again, was taken away by another program.
    pub(super) fn note_taken_away(
        &mut self,
        path: &LayerPath,
        upper: &Stat,
        on: LiesOn,
    ) -> Result<(), LayerError> {
        let is_gone = match (self.is_taken_away(path, on)?, kind(upper)) {
            (Some(is_gone), _) => is_gone,
            // A folder of the project is never renamed as a whole, so a copy of one was there under this name.
            (None, Some(EntryKind::Folder)) => self.copied(path)? != Copied::No,
            (None, Some(EntryKind::File)) => {
                self.unsure.push(path.clone());
                false
            }
            (None, _) => false,
        };
        if is_gone {
            self.moved.insert(path.clone(), ConflictReason::Gone);
        }
        Ok(())
    }

    /// Decides of files that look new whether they are copies of files that another program took away: where the script took
    /// nothing away from which they could have got their names.
    pub(super) fn settle_unsure(&mut self) -> Result<(), LayerError> {
        for path in std::mem::take(&mut self.unsure) {
            let copied = self.copied(&path)?;
            if copied != Copied::No && !self.is_renamed(copied) {
                self.moved.insert(path, ConflictReason::Gone);
            }
        }
        Ok(())
    }

    /// Whether a copy in the layer may be one of the project's files that the script took away.
    fn is_renamed(&self, copied: Copied) -> bool {
        let mut taken = self.found.entries.iter().filter_map(|change| {
            let is_taken = matches!(change.kind, ChangeKind::Deleted | ChangeKind::Modified);
            change.before.filter(|before| is_taken && before.kind == Some(EntryKind::File))
        });
        match copied {
            Copied::No => false,
            Copied::Somewhere => taken.next().is_some(),
            Copied::From(inode) => taken.any(|before| before.inode == inode),
        }
    }

    fn copied(&self, path: &LayerPath) -> Result<Copied, LayerError> {
        let note = || {
            let entry = self.upper.open_entry(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
            copied_from(&entry, self.marks)
        };
        note().or_else(|error| match error.kind() {
            // What its owner cannot read is opened when its content is read.
            io::ErrorKind::PermissionDenied => Ok(Copied::No),
            _ => Err(LayerError::io("read the marks of", self.upper.path_of(Some(path)))(error)),
        })
    }

    /// Whether a folder of the project, in which the script did something, is another one than that which the script saw.
    pub(super) fn folder_conflict(
        &self,
        path: &LayerPath,
        before: &Found,
    ) -> Result<Option<ConflictReason>, LayerError> {
        if before.side == LowerSide::Project && self.times.noted.at(path) == Known::Absent {
            // Both made a folder of this name.
            return Ok(self.times.began.map(|_| ConflictReason::Appeared));
        }
        if !self.was_moved(before) && !self.is_exchanged(path, before)? {
            return Ok(None);
        }
        let is_copy = || Ok::<_, LayerError>(self.copied(path)? != Copied::No);
        let was_there = matches!(self.times.noted.at(path), Known::Present(_)) || is_copy()?;
        Ok(Some(if was_there { ConflictReason::Gone } else { ConflictReason::Appeared }))
    }

    /// The same for a folder that the script took away, or put something else in its place.
    pub(super) fn replaced_folder(&self, path: &LayerPath, before: &Found) -> Option<ConflictReason> {
        if before.side != LowerSide::Project || self.times.began.is_none() {
            return None;
        }
        match self.times.noted.at(path) {
            Known::Absent => Some(ConflictReason::Appeared),
            Known::Present(NotedEntry { is_folder: false, .. }) => Some(ConflictReason::Changed),
            Known::Present(noted) if noted.inode != before.stat.st_ino && !self.is_still(path, noted) => {
                Some(ConflictReason::Gone)
            }
            _ => self.was_moved(before).then_some(ConflictReason::Gone),
        }
    }

    /// Whether a folder of the project was moved or got other permissions while the call ran: both change its change time
    /// and leave the time of its content. The files in a folder that was moved there have times of long ago.
    fn was_moved(&self, before: &Found) -> bool {
        let changed = changed(&before.stat);
        before.side == LowerSide::Project
            && self.times.began.is_some_and(|began| changed >= began)
            && changed != Stamp::of(&before.stat).modified
    }

    /// Whether the project's folder is another one than that which the overlay copied. The overlay notes which it was.
    fn is_exchanged(&self, path: &LayerPath, before: &Found) -> Result<bool, LayerError> {
        // Of a folder in both trees it notes that of the session's layer.
        if before.side != LowerSide::Project || before.is_merged {
            return Ok(false);
        }
        if let Known::Present(noted) = self.times.noted.at(path)
            && noted.inode != before.stat.st_ino
        {
            return Ok(!self.is_still(path, noted));
        }
        let Copied::From(inode) = self.copied(path)? else { return Ok(false) };
        Ok(inode != before.stat.st_ino)
    }

    /// Whether an entry is the noted one, read as it was noted: the place of a subvolume has another inode in its folder than of
    /// its own.
    fn is_still(&self, path: &LayerPath, noted: NotedEntry) -> bool {
        let project = self.lower.tree(LowerSide::Project);
        let found =
            project.entries(path.parent().as_ref(), usize::MAX, None).ok().flatten().unwrap_or_default();
        found.iter().any(|(name, entry)| name == path && *entry == noted)
    }

    pub(super) fn mark_moved(&mut self) {
        if self.moved.is_empty() {
            return;
        }
        for change in &mut self.found.entries {
            let mut above = std::iter::successors(Some(change.path.clone()), LayerPath::parent);
            if let Some(reason) = above.find_map(|path| self.moved.get(&path)) {
                change.conflict.get_or_insert(*reason);
            }
        }
    }

    /// Marks files that the script renamed while another program took the old name away: under the new name they would come back.
    pub(super) fn mark_renamed(&mut self) -> Result<(), LayerError> {
        if self.taken_by_both.is_empty() {
            return Ok(());
        }
        for index in 0..self.found.entries.len() {
            let change = &self.found.entries[index];
            let is_file = change.entry.as_ref().is_some_and(|entry| entry.kind == EntryKind::File);
            if change.kind != ChangeKind::Created || change.conflict.is_some() || !is_file {
                continue;
            }
            let copied = self.copied(&change.path)?;
            if copied != Copied::No && change.renamed_from.is_none() && !self.is_renamed(copied) {
                self.found.entries[index].conflict = Some(ConflictReason::SourceGone);
            }
        }
        Ok(())
    }

    pub(super) fn mark_databases(&mut self) -> io::Result<()> {
        let Some(began) = self.times.began else { return Ok(()) };
        let own = self.found.entries.iter().filter(|change| !change.in_session);
        let project = self.lower.tree(LowerSide::Project);
        let conflicts = changed_databases(project, began, own.map(|change| &change.path))?;
        for change in &mut self.found.entries {
            if conflicts.contains(&change.path) {
                change.conflict.get_or_insert(ConflictReason::Changed);
            }
        }
        Ok(())
    }
}
