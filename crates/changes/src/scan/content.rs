//! What lies at a path, read once.

use std::fs::File;
use std::io;

use metier_files::FileDigest;
use rustix::fs::{OFlags, Stat};

use super::{SET_ID, Scan};
use crate::beneath::Tree;
use crate::change::EntryKind;
use crate::content::{digest, digest_at, holes};
use crate::error::LayerError;
use crate::lower::{Found, LowerSide};
use crate::path::LayerPath;
use crate::stamp::{Stamp, Time, changed, kind};
use crate::xattr::marks;

/// What an entry of the layer holds, besides its state.
#[derive(Clone, Default)]
pub(super) struct Content {
    pub(super) digest: Option<FileDigest>,
    /// Where a link leads.
    pub(super) target: Option<String>,
    pub(super) is_unclean: bool,
}

impl Scan {
    /// What a file or link holds; `None` where it has more holes than may be hashed.
    pub(super) fn content(
        &self,
        tree: &Tree,
        path: &LayerPath,
        of: EntryKind,
        stat: &Stat,
    ) -> Result<Option<Content>, LayerError> {
        let read = || -> io::Result<Option<Content>> {
            if of == EntryKind::Link {
                let target = tree.read_link(path)?;
                let digest = Some(FileDigest::of(target.to_bytes()));
                let target = Some(target.to_string_lossy().into_owned());
                return Ok(Some(Content { digest, target, is_unclean: false }));
            }
            let is_upper = std::ptr::eq(tree, &raw const self.upper);
            let open = || tree.open_entry(path, OFlags::RDONLY | OFlags::NONBLOCK);
            let file = match open() {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied && is_upper => {
                    self.make_readable(Some(path), 0o400)?;
                    open()
                }
                opened => opened,
            }?;
            let is_unclean = is_upper
                && (stat.st_mode & SET_ID != 0 || stat.st_mode & 0o400 == 0 || !marks(&file)?.is_empty());
            let digest = self.digest(&file.into(), stat, is_upper)?;
            Ok(digest.map(|digest| Content { digest: Some(digest), target: None, is_unclean }))
        };
        read().map_err(LayerError::io("read", tree.path_of(Some(path))))
    }

    /// Reads a file. Nothing writes to it any more; one of the project that grew meanwhile has another digest, and a conflict.
    fn digest(&self, file: &File, stat: &Stat, is_upper: bool) -> io::Result<Option<FileDigest>> {
        // A thousand names of one file would be a thousand times its size to read.
        let is_linked = is_upper && stat.st_nlink > 1;
        if is_linked && let Some(known) = self.linked.borrow().get(&stat.st_ino) {
            return Ok(Some(*known));
        }
        let holes = holes(file, stat, self.holes_left.get())?;
        let Some(left) = self.holes_left.get().checked_sub(holes) else { return Ok(None) };
        self.holes_left.set(left);
        let digest = digest(file, Stamp::of(stat).size, &mut self.buffer.borrow_mut())?;
        if is_linked {
            self.linked.borrow_mut().insert(stat.st_ino, digest);
        }
        Ok(Some(digest))
    }

    /// The change time of a file or link of the project, and what it holds if there is room to read it. Together they tell an edit
    /// that keeps size and modification time.
    pub(super) fn state_before(
        &self,
        path: &LayerPath,
        before: Option<&Found>,
    ) -> (Option<Time>, Option<FileDigest>) {
        let Some(Found { stat, side: LowerSide::Project, .. }) = before else { return (None, None) };
        let size = match kind(stat) {
            Some(EntryKind::File | EntryKind::Link) => Stamp::of(stat).size,
            _ => return (None, None),
        };
        let time = Some(changed(stat));
        if let Some(known) = self.before.borrow().get(path) {
            return (time, Some(*known));
        }
        let Some(left) = self.compared_left.get().checked_sub(size) else { return (time, None) };
        self.compared_left.set(left);
        // What cannot be read has its change time only.
        let digest =
            digest_at(self.lower.tree(LowerSide::Project), path, stat, &mut self.buffer.borrow_mut());
        if let Ok(digest) = digest {
            self.before.borrow_mut().insert(path.clone(), digest);
        }
        (time, digest.ok())
    }

    /// What is to be known of a new folder.
    pub(super) fn folder_content(&self, path: &LayerPath, stat: &Stat) -> Result<Content, LayerError> {
        let named = || self.upper.path_of(Some(path));
        if stat.st_mode & SET_ID != 0 || stat.st_mode & 0o700 != 0o700 {
            self.make_readable(Some(path), 0o700).map_err(LayerError::io("open", named()))?;
            return Ok(Content { is_unclean: true, ..Content::default() });
        }
        let folder = self.upper.open_entry(path, OFlags::RDONLY | OFlags::DIRECTORY);
        let marks = folder.and_then(marks).map_err(LayerError::io("read the marks of", named()))?;
        Ok(Content { is_unclean: !marks.is_empty(), ..Content::default() })
    }
}
