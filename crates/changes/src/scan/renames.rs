//! Which deleted path was probably renamed to which new one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use metier_files::FileDigest;

use super::Scan;
use crate::change::{Change, ChangeKind, EntryKind};
use crate::error::LayerError;
use crate::lower::LowerSide;
use crate::stamp::Stamp;

/// What may have been renamed.
#[derive(Default)]
struct RenameTargets {
    /// Whether it is a link, and the size: most files need not be read.
    sizes: BTreeSet<(bool, u64)>,
    by_digest: BTreeMap<FileDigest, VecDeque<usize>>,
}

impl Scan {
    /// Finds files and links that were probably renamed: what is at a path now was at another one before, where it is deleted or
    /// replaced. Where several had that content, a deleted one goes before a replaced one, and then the first by path. So it is
    /// with the new names: one where there was nothing goes before one where something was.
    pub(super) fn pair_renames(&mut self) -> Result<(), LayerError> {
        let mut targets = RenameTargets::default();
        for wanted in [ChangeKind::Created, ChangeKind::Modified] {
            for (index, change) in self.found.entries.iter().enumerate() {
                if let Some(entry) = change.entry.as_ref().filter(|_| change.kind == wanted)
                    && let (Some(digest), true) = (entry.digest, entry.size > 0)
                {
                    targets.sizes.insert((entry.kind == EntryKind::Link, entry.size));
                    targets.by_digest.entry(digest).or_default().push_back(index);
                }
            }
        }
        for wanted in [ChangeKind::Deleted, ChangeKind::Modified] {
            for index in 0..self.found.entries.len() {
                let change = &self.found.entries[index];
                let Some(before) = change.before.filter(|_| change.kind == wanted) else { continue };
                let Some(digest) = self.content_before(change, &before, &targets)? else { continue };
                let Some(fitting) = targets.by_digest.get_mut(&digest) else { continue };
                let is_link = before.kind == Some(EntryKind::Link);
                let is_same_kind = |at: &usize| {
                    let entry = self.found.entries[*at].entry.as_ref();
                    *at != index && entry.is_some_and(|entry| (entry.kind == EntryKind::Link) == is_link)
                };
                if let Some(at) = fitting.iter().position(is_same_kind).and_then(|at| fitting.remove(at)) {
                    let from = self.found.entries[index].path.clone();
                    self.found.entries[at].renamed_from = Some(from);
                }
            }
        }
        Ok(())
    }

    /// What a file or link held that is deleted or replaced, if something of its size may have it now.
    fn content_before(
        &self,
        change: &Change,
        before: &Stamp,
        targets: &RenameTargets,
    ) -> Result<Option<FileDigest>, LayerError> {
        let Some(kind) = before.kind.filter(|kind| *kind != EntryKind::Folder) else { return Ok(None) };
        if !targets.sizes.contains(&(kind == EntryKind::Link, before.size)) {
            return Ok(None);
        }
        if let Some(known) = self.before.borrow().get(&change.path) {
            return Ok(Some(*known));
        }
        let path = &change.path;
        let tree = self.lower.tree(if change.in_session { LowerSide::Session } else { LowerSide::Project });
        let Some(stat) = tree.stat(path).map_err(self.reading(Some(path)))? else { return Ok(None) };
        // Another program may have exchanged it since.
        if Stamp::of(&stat).kind != Some(kind) {
            return Ok(None);
        }
        Ok(self.content(tree, path, kind, &stat)?.and_then(|content| content.digest))
    }
}
