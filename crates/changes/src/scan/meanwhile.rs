//! What other programs did to the project while the call ran.

use std::io;

use rustix::fs::OFlags;

use super::Scan;
use crate::change::EntryKind;
use crate::database::changed_databases;
use crate::error::{ConflictReason, LayerError};
use crate::lower::{Found, LowerSide, origin_inode};
use crate::path::LayerPath;
use crate::stamp::{Stamp, changed, kind};

impl Scan {
    /// Whether another program changed a file of the project while the call ran. What is new in a folder of the project is
    /// judged by itself, so a folder's own time says nothing.
    pub(super) fn conflict(&self, path: &LayerPath, before: &Found) -> Option<ConflictReason> {
        if kind(&before.stat) == Some(EntryKind::Folder) || before.side == LowerSide::Session {
            return None;
        }
        let is_changed = if let Some(began) = self.times.began {
            changed(&before.stat) >= began
        } else {
            let expected = self.times.expected.get(path);
            !expected.is_some_and(|expected| expected.is_unchanged(&Stamp::of(&before.stat)))
        };
        is_changed.then_some(ConflictReason::Changed)
    }

    /// Whether a folder of the project was moved or got other permissions while the call ran: both change its change time
    /// and leave the time of its content. The files in a folder that was moved there have times of long ago.
    pub(super) fn was_moved(&self, before: &Found) -> bool {
        let changed = changed(&before.stat);
        before.side == LowerSide::Project
            && self.times.began.is_some_and(|began| changed >= began)
            && changed != Stamp::of(&before.stat).modified
    }

    /// Whether the project's folder is another one than that which the overlay copied. The overlay notes which it was.
    pub(super) fn is_exchanged(&self, path: &LayerPath, before: &Found) -> Result<bool, LayerError> {
        // Of a folder in both trees it notes that of the session's layer.
        if before.side != LowerSide::Project || before.is_merged {
            return Ok(false);
        }
        if let Some(noted) = self.times.folders.get(path)
            && *noted != before.stat.st_ino
        {
            // Read as it was noted: the place of a subvolume has another inode in its folder than of its own.
            let parent = path.parent();
            let project = self.lower.tree(LowerSide::Project);
            let now = project.folders(parent.as_ref()).map_err(self.reading(parent.as_ref()))?;
            return Ok(!now.iter().any(|(name, inode)| name == path && inode == noted));
        }
        let note = || {
            let folder = self.upper.open_entry(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
            origin_inode(&folder, self.marks)
        };
        let inode = note().or_else(|error| match error.kind() {
            // A folder that its owner cannot read is opened when its names are read.
            io::ErrorKind::PermissionDenied => Ok(None),
            _ => Err(LayerError::io("read the marks of", self.upper.path().join(path.as_path()))(error)),
        })?;
        Ok(inode.is_some_and(|inode| inode != before.stat.st_ino))
    }

    pub(super) fn mark_moved(&mut self) {
        for change in &mut self.found.entries {
            if change.conflict.is_none() && self.moved.iter().any(|moved| change.path.is_below(moved)) {
                change.conflict = Some(ConflictReason::Gone);
            }
        }
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
