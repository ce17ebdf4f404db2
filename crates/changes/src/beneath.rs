//! A folder in which every step is taken beneath its handle, never through a link.

use std::cell::RefCell;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Stat, chmodat, mkdirat, openat,
    openat2, readlinkat, renameat_with, statat,
};

use crate::error::LayerError;
use crate::noted::NotedEntry;
use crate::path::LayerPath;
use crate::stamp::{Stamp, Time, changed};

/// A folder, held open. Paths below it are resolved by the kernel without following links, so whatever a script or another
/// program puts there cannot lead elsewhere.
#[derive(Debug)]
pub(crate) struct Tree {
    root: Rc<OwnedFd>,
    path: PathBuf,
    /// The folder that was looked into last. Entries come in the order of their paths, so most lie where the one before does.
    last: Option<RefCell<(LayerPath, Rc<OwnedFd>)>>,
}

impl Tree {
    /// A folder that other programs work in: every path is resolved anew.
    pub(crate) fn open(path: &Path) -> Result<Self, LayerError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = openat(CWD, path, flags, Mode::empty()).map_err(LayerError::io("open", path))?;
        Ok(Self { root: Rc::new(root), path: path.to_owned(), last: None })
    }

    /// A folder in which nothing is moved meanwhile, or where that is found out later.
    pub(crate) fn open_quiet(path: &Path) -> Result<Self, LayerError> {
        let tree = Self::open(path)?;
        let last = (LayerPath::top(OsStr::new(".")), Rc::clone(&tree.root));
        Ok(Self { last: Some(RefCell::new(last)), ..tree })
    }

    /// Where it is, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where an entry is, for messages; the folder itself for `None`.
    pub(crate) fn path_of(&self, path: Option<&LayerPath>) -> PathBuf {
        path.map_or_else(|| self.path.clone(), |path| self.path.join(path.as_path()))
    }

    /// Opens an entry.
    pub(crate) fn open_entry(&self, path: &LayerPath, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        if self.last.is_some() {
            let (folder, name) = self.parent(path)?;
            return Ok(openat(&folder, name, flags, Mode::empty())?);
        }
        self.resolve(path, flags)
    }

    fn resolve(&self, path: &LayerPath, flags: OFlags) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        Ok(openat2(&self.root, path.as_path(), flags, Mode::empty(), resolve)?)
    }

    /// The folder an entry lies in, and its name there.
    pub(crate) fn parent<'a>(&self, path: &'a LayerPath) -> io::Result<(Rc<OwnedFd>, &'a OsStr)> {
        let name = path.as_path().file_name().unwrap_or_default();
        let Some(parent) = path.parent() else { return Ok((Rc::clone(&self.root), name)) };
        if let Some(last) = &self.last
            && last.borrow().0 == parent
        {
            return Ok((Rc::clone(&last.borrow().1), name));
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let folder = Rc::new(self.resolve(&parent, flags)?);
        if let Some(last) = &self.last {
            last.replace((parent, Rc::clone(&folder)));
        }
        Ok((folder, name))
    }

    /// The status of an entry, a link's own included; `None` where there is nothing.
    pub(crate) fn stat(&self, path: &LayerPath) -> io::Result<Option<Stat>> {
        let parent = self.parent(path);
        if_there(parent.and_then(|(folder, name)| Ok(statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?)))
    }

    /// The state of an entry; `None` where there is nothing.
    pub(crate) fn stamp(&self, path: &LayerPath) -> io::Result<Option<Stamp>> {
        Ok(self.stat(path)?.as_ref().map(Stamp::of))
    }

    /// Where a link leads.
    pub(crate) fn read_link(&self, path: &LayerPath) -> io::Result<CString> {
        let (folder, name) = self.parent(path)?;
        Ok(readlinkat(&folder, name, Vec::new())?)
    }

    /// Makes a folder that is open to its owner only.
    pub(crate) fn make_folder(&self, path: &LayerPath) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        Ok(mkdirat(&folder, name, Mode::RWXU)?)
    }

    pub(crate) fn set_mode(&self, path: &LayerPath, mode: u32) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        Ok(chmodat(&folder, name, Mode::from_raw_mode(mode), AtFlags::empty())?)
    }

    /// The names in a folder, in order; in the top folder for `None`.
    pub(crate) fn names(&self, path: Option<&LayerPath>) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in self.open_listing(path)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// What is in a folder, as the folder has it; in the top folder for `None`. `None` where there is more than `most`, where the
    /// file system does not tell folders from files without a look at each, or where the folder was changed at `since` or later.
    pub(crate) fn entries(
        &self,
        path: Option<&LayerPath>,
        most: usize,
        since: Option<Time>,
    ) -> io::Result<Option<Vec<(LayerPath, NotedEntry)>>> {
        let mut entries = Vec::new();
        let mut listing = self.open_listing(path)?;
        for entry in listing.by_ref() {
            let entry = entry?;
            let (name, kind) = (entry.file_name().to_bytes(), entry.file_type());
            if matches!(name, b"." | b"..") {
                continue;
            }
            if entries.len() >= most || kind == FileType::Unknown {
                return Ok(None);
            }
            let noted = NotedEntry { inode: entry.ino(), is_folder: kind == FileType::Directory };
            entries.push((LayerPath::below(path, OsStr::from_bytes(name)), noted));
        }
        if let Some(since) = since
            && changed(&listing.stat()?) >= since
        {
            return Ok(None);
        }
        Ok(Some(entries))
    }

    fn open_listing(&self, path: Option<&LayerPath>) -> io::Result<Dir> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let folder = match path {
            Some(path) => self.open_entry(path, flags)?,
            None => openat(&self.root, ".", flags | OFlags::CLOEXEC, Mode::empty())?,
        };
        Ok(Dir::new(folder)?)
    }

    /// Renames an entry of this folder to one of another.
    pub(crate) fn rename_to(
        &self,
        from: &LayerPath,
        target: &Self,
        to: &LayerPath,
        flags: RenameFlags,
    ) -> io::Result<()> {
        let (from_folder, from_name) = self.parent(from)?;
        let (to_folder, to_name) = target.parent(to)?;
        Ok(renameat_with(&from_folder, from_name, &to_folder, to_name, flags)?)
    }
}

/// What was found; `None` where there is nothing at the path, or no folder on the way to it.
pub(crate) fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        found => found.map(Some),
    }
}
