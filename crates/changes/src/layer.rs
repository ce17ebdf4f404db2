//! The folder that a contained process writes to instead of the project.

use std::fs::{DirBuilder, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use metier_files::FolderLock;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::blank::BlankLayer;
use crate::error::LayerError;
use crate::noted::Noted;
use crate::origin::CallOrigin;
use crate::remove::remove_tree;
use crate::stamp::{Time, changed};

pub(crate) const UPPER: &str = "upper";
pub(crate) const WORK: &str = "work";
pub(crate) const OLD: &str = "old";
pub(crate) const RECORD: &str = "layer.json";
/// What a scan found, without what the session's layer has taken.
pub(crate) const CHANGES: &str = "changes.json";

/// What the project held when the call began.
pub(crate) const NOTED: &str = "noted.json";

/// What is known of a layer from its beginning.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    version: u32,
    /// The project it lies on.
    pub(crate) project: PathBuf,
    /// When the call began, by the clock of the file system. A file of the project that was changed at this time or later
    /// was changed by another program. `None` where the layer was not made by one call.
    pub(crate) began: Option<Time>,
    /// Which extended attributes the overlay uses for its marks.
    pub(crate) marks: Marks,
    /// The call.
    pub(crate) origin: CallOrigin,
    /// The session's layer between this one and the project.
    pub(crate) session: Option<PathBuf>,
    /// The permissions of the project's own folder when the call began. Earlier versions did not note them.
    #[serde(default)]
    pub(crate) mode: Option<u32>,
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
    /// Those of an overlay that this process mounts.
    pub(crate) fn own() -> Self {
        if rustix::process::geteuid().is_root() { Self::Trusted } else { Self::User }
    }

    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Self::User => "user.overlay.",
            Self::Trusted => "trusted.overlay.",
        }
    }
}

/// A part of a tick, which is 1 to 10 ms.
const TICK_PART: Duration = Duration::from_micros(300);

/// No tick is longer. A clock that was set back would be waited for in vain.
const MAX_TICK: Duration = Duration::from_millis(20);

/// Before every call.
pub(crate) const LONG_AGO: Time = Time { seconds: 0, nanoseconds: 0 };

/// The current form of the record.
const VERSION: u32 = 2;

/// One call's own folder: the upper folder of an overlay on the project, and what is known of it. It is locked for as long
/// as this value lives, so that another metier leaves it alone.
#[derive(Debug)]
pub struct Layer {
    folder: PathBuf,
    record: Record,
    /// Looks at the project for as long as nobody needs what it finds.
    noting: Mutex<Option<JoinHandle<Noted>>>,
    _lock: FolderLock,
}

impl Layer {
    /// Turns blank folders into the layer of a call that begins now. Applying is renaming if they are on one file system with the
    /// project, and copying first if not. What was changed until `known` was there before it: a file
    /// has the time of the clock's last tick, so the call begins with a tick after that moment.
    pub(crate) fn begin(
        blank: BlankLayer,
        project: &Path,
        origin: CallOrigin,
        session: Option<PathBuf>,
        known: Time,
    ) -> Result<Self, LayerError> {
        let BlankLayer { folder, lock, record: mut file } = blank;
        let upper = folder.join(UPPER);
        let until = Instant::now() + MAX_TICK;
        let (began, permissions) = loop {
            let permissions = take_permissions(&upper, project)?;
            // Its permissions were set just now, so its own time is the time by the clock of the file system.
            let made = rustix::fs::stat(&upper).map_err(LayerError::io("read", &upper))?;
            if changed(&made) > known || Instant::now() >= until {
                break (changed(&made), permissions);
            }
            std::thread::sleep(TICK_PART);
        };
        let record = Record {
            version: VERSION,
            project: project.to_owned(),
            began: Some(began),
            marks: Marks::own(),
            origin,
            session,
            mode: Some(permissions),
        };
        // Beside the start of the call, which takes longer.
        let (noted, known) = (folder.join(NOTED), project.to_owned());
        let work = move || {
            let found = Noted::of(&known, began);
            // Only for who looks at the layer after this process was killed, and can do without.
            let _ = write_record(&noted, &found);
            found
        };
        let noting = std::thread::Builder::new().name("layer".to_owned()).spawn(work).ok();
        let layer = Self { folder, record, noting: Mutex::new(noting), _lock: lock };
        // Not by another file that takes its place: a record that is cut off belongs to a call that never ran.
        let path = layer.folder.join(RECORD);
        file.write_all(&to_json(&path, &layer.record)?).map_err(LayerError::io("write", &path))?;
        Ok(layer)
    }

    /// Opens a layer that another process left, if none works with it; `None` where one does.
    pub(crate) fn reopen(folder: &Path) -> Result<Option<Self>, LayerError> {
        let Some(lock) = FolderLock::try_take(folder).map_err(LayerError::io("lock", folder))? else {
            return Ok(None);
        };
        let record = read_record(folder)?;
        Ok(Some(Self { folder: folder.to_owned(), record, noting: Mutex::default(), _lock: lock }))
    }

    /// What the project held when the call began.
    pub(crate) fn noted(&self) -> Result<Noted, LayerError> {
        match self.noting.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(noting) => Ok(noting.join().unwrap_or_default()),
            None => Ok(self.read(NOTED)?.unwrap_or_default()),
        }
    }

    /// Says that it was not made by one call: no time tells what other programs did meanwhile.
    pub(crate) fn forget_beginning(&mut self) -> Result<(), LayerError> {
        self.record.began = None;
        self.write(RECORD, &self.record)
    }

    /// What it is called in listings.
    pub fn id(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The project it lies on.
    pub fn project(&self) -> &Path {
        &self.record.project
    }

    /// The call it was made for.
    pub fn origin(&self) -> &CallOrigin {
        &self.record.origin
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

    /// Writes a record of it that can be made again after a stop of the machine. A sync takes longer than a whole call.
    pub(crate) fn write(&self, name: &str, value: &impl Serialize) -> Result<(), LayerError> {
        write_record(&self.folder.join(name), value)
    }

    /// Reads a record of it; `None` where there is none.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, LayerError> {
        read_optional(&self.folder.join(name))
    }

    /// Whether the scan's result is there to its last byte: it is not synced, and a stop of the machine can leave half of it.
    pub(crate) fn has_whole_changes(&self) -> bool {
        let mut end = [0];
        let read = std::fs::File::open(self.folder.join(CHANGES)).and_then(|mut file| {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut end)
        });
        read.is_ok() && end == *b"}"
    }

    /// Renames a record of it, to the disk. This is the one moment at which a state becomes the next.
    pub(crate) fn turn(&self, from: &str, to: &str) -> Result<(), LayerError> {
        let path = self.folder.join(from);
        std::fs::rename(&path, self.folder.join(to)).map_err(LayerError::io("rename", &path))?;
        let folder = std::fs::File::open(&self.folder).map_err(LayerError::io("open", &self.folder))?;
        folder.sync_all().map_err(LayerError::io("sync", &self.folder))
    }

    /// The permissions that the script gave the project's own folder, where they are others than before.
    pub(crate) fn changed_mode(&self) -> Result<Option<u32>, LayerError> {
        let upper = self.upper();
        let mode = std::fs::metadata(&upper).map_err(LayerError::io("read", &upper))?.mode() & 0o777;
        // A layer that was a session's has permissions from another time.
        let before = self.record.mode.filter(|_| self.record.began.is_some());
        Ok(before.is_some_and(|before| before != mode).then_some(mode))
    }

    /// Whether nothing was written to it: most calls change nothing, and then there is nothing to scan or to write down.
    pub fn is_untouched(&self) -> Result<bool, LayerError> {
        let upper = self.upper();
        // It may be closed to its own user now.
        if self.changed_mode()?.is_some() {
            return Ok(false);
        }
        let mut entries = std::fs::read_dir(&upper).map_err(LayerError::io("read", &upper))?;
        Ok(entries.next().is_none())
    }

    /// How much its call wrote: a call that ends soon is measured only now.
    pub fn usage(&self) -> Result<LayerUsage, LayerError> {
        let mut usage = LayerUsage::default();
        let mut waiting = vec![self.upper()];
        while let Some(folder) = waiting.pop() {
            let entries = match std::fs::read_dir(&folder) {
                // It lies too deep to be applied, so the scan did not open it either.
                Err(error) if is_out_of_reach(&error) => continue,
                entries => entries.map_err(LayerError::io("read", &folder))?,
            };
            for entry in entries {
                let entry = entry.map_err(LayerError::io("read", &folder))?;
                usage.files += 1;
                let path = entry.path();
                match entry.metadata() {
                    Err(error) if is_out_of_reach(&error) => {}
                    Ok(found) if found.is_dir() => waiting.push(path),
                    found => {
                        usage.bytes +=
                            found.map_err(LayerError::io("read", path))?.blocks().saturating_mul(512);
                    }
                }
            }
        }
        Ok(usage)
    }

    /// Removes it with everything in it.
    pub fn remove(self) -> Result<(), LayerError> {
        // Nothing is written to it any more then.
        drop(self.noted());
        remove_tree(&self.folder).map_err(LayerError::io("remove", &self.folder))
    }
}

/// How much a layer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerUsage {
    /// Bytes on the disk.
    pub bytes: u64,
    /// Files, folders, links and marks of deleted ones.
    pub files: u64,
}

fn is_out_of_reach(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidFilename)
}

/// What is known of the layer in a folder.
pub(crate) fn read_record(folder: &Path) -> Result<Record, LayerError> {
    let path = folder.join(RECORD);
    read_optional(&path)?.ok_or_else(|| LayerError::io("read", path)(io::ErrorKind::NotFound))
}

/// Reads a record; `None` where there is none.
pub(crate) fn read_optional<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, LayerError> {
    let text = match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(LayerError::io("read", path))?,
    };
    let value = serde_json::from_slice(&text);
    value.map(Some).map_err(|source| LayerError::Record { path: path.to_owned(), source })
}

/// Writes a record whole or not at all, and leaves it to the system when it is on the disk.
pub(crate) fn write_record(path: &Path, value: &impl Serialize) -> Result<(), LayerError> {
    let draft = path.with_extension("draft");
    // Private whatever the umask is: it has the names of changed files.
    let mut file = std::fs::OpenOptions::new();
    let file = file.write(true).create(true).truncate(true).mode(0o600).open(&draft);
    let text = to_json(path, value)?;
    file.and_then(|mut file| file.write_all(&text)).map_err(LayerError::io("write", &draft))?;
    std::fs::rename(&draft, path).map_err(LayerError::io("write", path))
}

pub(crate) fn to_json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, LayerError> {
    serde_json::to_vec(value).map_err(|source| LayerError::Record { path: path.to_owned(), source })
}

/// Makes an empty upper folder. The overlay shows its permissions as the project's.
pub(crate) fn make_upper(upper: &Path, project: &Path) -> Result<(), LayerError> {
    DirBuilder::new().mode(0o700).create(upper).map_err(LayerError::io("create", upper))?;
    take_permissions(upper, project).map(|_| ())
}

fn take_permissions(upper: &Path, project: &Path) -> Result<u32, LayerError> {
    let mode = std::fs::metadata(project).map_err(LayerError::io("read", project))?.mode() & 0o777;
    let set = std::fs::set_permissions(upper, Permissions::from_mode(mode));
    set.map(|()| mode).map_err(LayerError::io("set the permissions of", upper))
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
