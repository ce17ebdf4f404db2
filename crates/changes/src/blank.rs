//! The folders of a layer before there is a call for it. Making them takes longer than anything else that a call without
//! changes needs of a layer, so a store that is used again makes them between two calls.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use metier_files::FolderLock;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::error::LayerError;
use crate::layer::{OLD, RECORD, UPPER, WORK};
use crate::origin::unix_millis;
use crate::remove::remove_tree;

/// How the folder of one begins that waits for its call.
pub(crate) const SPARE_PREFIX: &str = "spare-";

/// A layer's folders, empty and locked, with an empty record.
#[derive(Debug)]
pub(crate) struct BlankLayer {
    pub(crate) folder: PathBuf,
    pub(crate) lock: FolderLock,
    pub(crate) record: File,
}

impl BlankLayer {
    /// Makes the folders for a call that begins now.
    pub(crate) fn make(place: &Path) -> Result<Self, LayerError> {
        Self::make_named(place, "")
    }

    /// Makes them for a call that is still to come.
    pub(crate) fn make_spare(place: &Path) -> Result<Self, LayerError> {
        Self::make_named(place, SPARE_PREFIX)
    }

    fn make_named(place: &Path, prefix: &str) -> Result<Self, LayerError> {
        let make = |folder: &Path| DirBuilder::new().mode(0o700).create(folder);
        let folder =
            named_by_time(place, prefix, make).map_err(LayerError::io("create a folder in", place))?;
        let lock = FolderLock::take(&folder).map_err(LayerError::io("lock", &folder))?;
        for name in [WORK, OLD, UPPER] {
            let path = folder.join(name);
            make(&path).map_err(LayerError::io("create", &path))?;
        }
        let path = folder.join(RECORD);
        let record = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let record = record.map_err(LayerError::io("create", &path))?;
        Ok(Self { folder, lock, record })
    }

    /// Gives a spare one the name of a call that begins now. `None` where its folder is gone.
    pub(crate) fn take(self, place: &Path) -> Option<Self> {
        let rename =
            |folder: &Path| Ok(renameat_with(CWD, &self.folder, CWD, folder, RenameFlags::NOREPLACE)?);
        let folder = named_by_time(place, "", rename).ok()?;
        Some(Self { folder, ..self })
    }

    /// Removes it: no call came.
    pub(crate) fn remove(self) {
        // What stays is removed by `prune`, since it has no record.
        let _ = remove_tree(&self.folder);
    }
}

/// Makes something under a name that is free and sorts by time.
fn named_by_time(place: &Path, prefix: &str, make: impl Fn(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let millis = unix_millis();
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = place.join(format!("{prefix}{millis:013}-{}-{number}", std::process::id()));
        match make(&folder) {
            // A process with our number that ended within the same millisecond.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            done => return done.map(|()| folder),
        }
    }
}
