//! The folder that a contained process writes to instead of the project.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use metier_files::{FolderLock, Mode, write_atomic};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::LayerError;
use crate::stamp::{Time, changed};

const UPPER: &str = "upper";
const WORK: &str = "work";
const OLD: &str = "old";
const RECORD: &str = "layer.json";
/// What a scan found and nobody has decided yet.
pub(crate) const CHANGES: &str = "changes.json";
/// What is being applied. While it is there, the project may be half old and half new.
pub(crate) const JOURNAL: &str = "journal.json";
/// What was applied, and how to take it back.
pub(crate) const APPLIED: &str = "applied.json";

/// What is known of a layer from its beginning.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    version: u32,
    /// The project it lies on.
    pub(crate) project: PathBuf,
    /// When the call began, by the clock of the file system. A file of the project that was changed at this time or later
    /// was changed by another program.
    pub(crate) began: Time,
    /// Which extended attributes the overlay uses for its marks.
    pub(crate) marks: Marks,
}

/// Whose extended attributes the overlay uses. A contained process can set the others, so those mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Marks {
    /// `user.overlay.*`, for an overlay that an ordinary user mounted.
    User,
    /// `trusted.overlay.*`, for root's.
    Trusted,
}

impl Marks {
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Self::User => "user.overlay.",
            Self::Trusted => "trusted.overlay.",
        }
    }
}

/// The current form of the record.
const VERSION: u32 = 1;

/// One call's own folder: the upper folder of an overlay on the project, and what is known of it. It is locked for as long
/// as this value lives, so that another metier leaves it alone.
#[derive(Debug)]
pub struct Layer {
    folder: PathBuf,
    record: Record,
    _lock: FolderLock,
}

impl Layer {
    /// Makes an empty layer for a project, in a folder of its own below `layers`. Both have to be on one file system:
    /// applying is renaming.
    pub fn create(layers: &Path, project: &Path) -> Result<Self, LayerError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(layers)
            .map_err(LayerError::io("create", layers))?;
        let folder = new_folder(layers).map_err(LayerError::io("create a folder in", layers))?;
        let lock = FolderLock::take(&folder).map_err(LayerError::io("lock", &folder))?;
        for name in [UPPER, WORK, OLD] {
            let path = folder.join(name);
            DirBuilder::new().mode(0o700).create(&path).map_err(LayerError::io("create", &path))?;
        }
        // The overlay shows the upper folder's own permissions as the project's.
        let metadata = std::fs::metadata(project).map_err(LayerError::io("read", project))?;
        let permissions = Permissions::from_mode(metadata.mode() & 0o777);
        let upper = folder.join(UPPER);
        std::fs::set_permissions(&upper, permissions)
            .map_err(LayerError::io("set the permissions of", &upper))?;
        let marks = if rustix::process::geteuid().is_root() { Marks::Trusted } else { Marks::User };
        let record = Record {
            version: VERSION,
            project: project.to_owned(),
            began: now(&folder).map_err(LayerError::io("write to", &folder))?,
            marks,
        };
        let layer = Self { folder, record, _lock: lock };
        layer.write(RECORD, &layer.record)?;
        Ok(layer)
    }

    /// Opens a layer that another process left, if none works with it; `None` where one does.
    pub(crate) fn reopen(folder: &Path) -> Result<Option<Self>, LayerError> {
        let Some(lock) = FolderLock::try_take(folder).map_err(LayerError::io("lock", folder))? else {
            return Ok(None);
        };
        let record = read(&folder.join(RECORD))?;
        Ok(Some(Self { folder: folder.to_owned(), record, _lock: lock }))
    }

    /// What it is called in listings.
    pub fn id(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The project it lies on.
    pub fn project(&self) -> &Path {
        &self.record.project
    }

    /// The upper folder of the overlay.
    pub fn upper(&self) -> PathBuf {
        self.folder.join(UPPER)
    }

    /// The working folder of the overlay.
    pub fn work(&self) -> PathBuf {
        self.folder.join(WORK)
    }

    /// Where applying puts what it takes out of the project.
    pub(crate) fn old(&self) -> PathBuf {
        self.folder.join(OLD)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// Writes a record of it, to the disk.
    pub(crate) fn write(&self, name: &str, value: &impl Serialize) -> Result<(), LayerError> {
        let path = self.folder.join(name);
        let text =
            serde_json::to_vec(value).map_err(|source| LayerError::Record { path: path.clone(), source })?;
        write_atomic(&path, &text, Mode::Private).map_err(LayerError::io("write", path))
    }

    /// Reads a record of it; `None` where there is none.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, LayerError> {
        let path = self.folder.join(name);
        if !path.exists() {
            return Ok(None);
        }
        read(&path).map(Some)
    }

    /// Renames a record of it, to the disk. This is the one moment at which a state becomes the next.
    pub(crate) fn turn(&self, from: &str, to: &str) -> Result<(), LayerError> {
        let path = self.folder.join(from);
        std::fs::rename(&path, self.folder.join(to)).map_err(LayerError::io("rename", &path))?;
        let folder = std::fs::File::open(&self.folder).map_err(LayerError::io("open", &self.folder))?;
        folder.sync_all().map_err(LayerError::io("sync", &self.folder))
    }

    /// Removes it with everything in it.
    pub fn remove(self) -> Result<(), LayerError> {
        remove_tree(&self.folder).map_err(LayerError::io("remove", &self.folder))
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, LayerError> {
    let text = std::fs::read(path).map_err(LayerError::io("read", path))?;
    serde_json::from_slice(&text).map_err(|source| LayerError::Record { path: path.to_owned(), source })
}

/// A new folder whose name sorts by time.
fn new_folder(layers: &Path) -> io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = layers.join(format!("{millis:013}-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            // A process with our number that ended within the same millisecond.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| folder),
        }
    }
}

/// The time by the clock of the file system: the change time of a file that is made there now. It runs behind the system's
/// clock by up to a tick.
pub(crate) fn now(folder: &Path) -> io::Result<Time> {
    let path = folder.join("clock");
    let file = std::fs::File::create(&path)?;
    let time = changed(&rustix::fs::fstat(&file)?);
    std::fs::remove_file(path)?;
    Ok(time)
}

/// Removes a folder whatever its permissions are: the overlay leaves `work/work` closed, and a script can close its own.
pub(crate) fn remove_tree(folder: &Path) -> io::Result<()> {
    if std::fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    open_folders(folder)?;
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn open_folders(folder: &Path) -> io::Result<()> {
    std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // The type of the entry itself: a link to a folder is not entered.
        if entry.file_type()?.is_dir() {
            open_folders(&entry.path())?;
        }
    }
    Ok(())
}
