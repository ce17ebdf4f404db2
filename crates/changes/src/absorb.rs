//! Moves changes of a call to its session's layer.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, XattrFlags, fsetxattr, mknodat, unlinkat};
use rustix::io::Errno;

use crate::beneath::Tree;
use crate::change::{Change, ChangeKind, ChangeSet, Entry, EntryKind};
use crate::copy::{Depth, copy_entry};
use crate::error::LayerError;
use crate::layer::{Layer, Marks};
use crate::lower::opaque_mark;
use crate::path::LayerPath;
use crate::scan::Expected;
use crate::stamp::{Stamp, is_folder};
use crate::xattr::remove_marks;

/// Moves the chosen changes to the folder of a session's layer, and gives those that have no folder to lie in there.
pub(crate) fn absorb(
    session: &Path,
    layer: &Layer,
    changes: &ChangeSet,
    chosen: &BTreeSet<LayerPath>,
    expected: &mut Expected,
) -> Result<Vec<LayerPath>, LayerError> {
    let trees = Trees {
        upper: Tree::open(&layer.upper())?,
        session: Tree::open(session)?,
        project: Tree::open(layer.project())?,
        marks: layer.record().marks,
    };
    let mut left = Vec::new();
    let mut closed: Vec<(&LayerPath, u32)> = Vec::new();
    for (at, change) in changes.entries.iter().enumerate() {
        let path = &change.path;
        if !chosen.contains(path) {
            continue;
        }
        // A folder is not deleted while something in it stays.
        let mut below = changes.entries[at..].iter().take_while(|below| below.path.is_below(path));
        let is_whole = change.kind != ChangeKind::Deleted || below.all(|below| chosen.contains(&below.path));
        let failed = LayerError::io("move", session.join(path.as_path()));
        if !is_whole || !trees.take(change).map_err(failed)? {
            left.push(path.clone());
            continue;
        }
        if let Some(entry) = change.entry.as_ref().filter(|entry| entry.kind == EntryKind::Folder) {
            closed.push((path, entry.mode));
        }
        let before =
            trees.project.stat(path).map_err(LayerError::io("read", session.join(path.as_path())))?;
        match before {
            Some(stat) if !is_folder(&stat) => {
                expected.insert(path.clone(), Stamp::of(&stat));
            }
            _ => {
                expected.remove(path);
            }
        }
    }
    // Folders get their permissions when everything is in them.
    for (path, mode) in closed.into_iter().rev() {
        let failed = LayerError::io("set the permissions of", session.join(path.as_path()));
        trees.session.set_mode(path, mode).map_err(failed)?;
    }
    trees.remove_carriers(changes).map_err(LayerError::io("tidy", session))?;
    Ok(left)
}

struct Trees {
    upper: Tree,
    session: Tree,
    project: Tree,
    marks: Marks,
}

impl Trees {
    /// Takes one change over. Gives whether there is a folder that it can lie in.
    fn take(&self, change: &Change) -> io::Result<bool> {
        let path = &change.path;
        match &change.entry {
            None => self.delete(path),
            Some(_) if !self.carry_parents(path)? => Ok(false),
            Some(entry) if entry.kind == EntryKind::Folder => {
                self.take_folder(path, change.kind).map(|()| true)
            }
            Some(entry) => self.take_file(path, entry).map(|()| true),
        }
    }

    fn take_folder(&self, path: &LayerPath, happened: ChangeKind) -> io::Result<()> {
        let in_project = holds_folder(&self.project, path)?;
        if holds_folder(&self.session, path)? {
            return Ok(());
        }
        self.remove(path)?;
        self.session.make_folder(path)?;
        // What the project has in a folder of this name was deleted before, so it must not show again.
        if in_project && !happened.is_in_place() {
            let made = self.session.open_entry(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
            fsetxattr(&made, opaque_mark(self.marks), b"y", XattrFlags::empty())?;
        }
        Ok(())
    }

    fn take_file(&self, path: &LayerPath, entry: &Entry) -> io::Result<()> {
        if entry.kind == EntryKind::File {
            remove_marks(self.upper.open_entry(path, OFlags::RDONLY | OFlags::NONBLOCK)?)?;
            self.upper.set_mode(path, entry.mode)?;
        }
        self.remove(path)?;
        match self.upper.rename_to(path, &self.session, path, RenameFlags::NOREPLACE) {
            Err(error) if error.raw_os_error() == Some(Errno::XDEV.raw_os_error()) => {
                copy_entry(&self.upper, &self.session, path, Depth::Entry)
            }
            moved => moved,
        }
    }

    /// Something that is gone: from the session's layer, and from sight where the project has it.
    fn delete(&self, path: &LayerPath) -> io::Result<bool> {
        if self.is_hidden(path)? {
            return Ok(true);
        }
        self.remove(path)?;
        if self.project.stat(path)?.is_none() {
            return Ok(true);
        }
        if !self.carry_parents(path)? {
            return Ok(false);
        }
        let (folder, name) = self.session.parent(path)?;
        mknodat(&folder, name, FileType::CharacterDevice, Mode::empty(), 0)?;
        Ok(true)
    }

    /// Whether something above a path hides it: a mark of deletion, or a file in place of a folder.
    fn is_hidden(&self, path: &LayerPath) -> io::Result<bool> {
        let Some(parent) = path.parent() else { return Ok(false) };
        match self.session.stat(&parent)? {
            Some(stat) => Ok(!is_folder(&stat)),
            None => self.is_hidden(&parent),
        }
    }

    /// Makes the folders above a path that the project has. Gives whether all are there.
    fn carry_parents(&self, path: &LayerPath) -> io::Result<bool> {
        let Some(parent) = path.parent() else { return Ok(true) };
        match self.session.stat(&parent)? {
            Some(stat) => return Ok(is_folder(&stat)),
            None if !self.carry_parents(&parent)? => return Ok(false),
            None => {}
        }
        let Some(stat) = self.project.stat(&parent)?.filter(is_folder) else { return Ok(false) };
        self.session.make_folder(&parent)?;
        self.session.set_mode(&parent, stat.st_mode & 0o777 | 0o700)?;
        Ok(true)
    }

    /// Removes an entry of the session's layer, a folder with everything in it.
    fn remove(&self, path: &LayerPath) -> io::Result<()> {
        let Some(stat) = self.session.stat(path)? else { return Ok(()) };
        let flags = if is_folder(&stat) {
            self.session.set_mode(path, 0o700)?;
            for name in self.session.names(Some(path))? {
                self.remove(&path.child(&name))?;
            }
            AtFlags::REMOVEDIR
        } else {
            AtFlags::empty()
        };
        let (folder, name) = self.session.parent(path)?;
        Ok(unlinkat(&folder, name, flags)?)
    }

    /// Removes folders that were deleted and hold nothing any more: they only led to what was absorbed earlier.
    fn remove_carriers(&self, changes: &ChangeSet) -> io::Result<()> {
        for change in changes.entries.iter().rev().filter(|change| change.kind == ChangeKind::Deleted) {
            if !holds_folder(&self.session, &change.path)? {
                continue;
            }
            let (folder, name) = self.session.parent(&change.path)?;
            match unlinkat(&folder, name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOTEMPTY | Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn holds_folder(tree: &Tree, path: &LayerPath) -> io::Result<bool> {
    Ok(tree.stat(path)?.as_ref().is_some_and(is_folder))
}
