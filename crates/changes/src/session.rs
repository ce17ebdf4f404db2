//! The layer of a session: what its calls leave that is not worth a question.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use metier_files::FileDigest;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::absorb::absorb;
use crate::blank::BlankLayer;
use crate::change::ChangeSet;
use crate::error::LayerError;
use crate::layer::{CHANGES, LONG_AGO, Layer, Marks, make_upper, read_optional, write_record};
use crate::origin::CallOrigin;
use crate::path::LayerPath;
use crate::remove::remove_tree;
use crate::scan::{EXPECTED, Expected, Times, compare};

/// How the folder of a session's layer begins.
pub(crate) const SESSION_PREFIX: &str = "session-";
/// What is mounted above the project.
const UPPER: &str = "upper";
/// Whose layer it is: the name of its folder is a digest.
const RECORD: &str = "session.json";

/// Whose layer the layer of a session is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// What it is called in listings.
    #[serde(default)]
    pub id: String,
    /// The project it lies on.
    pub project: PathBuf,
    /// The session.
    pub session: String,
}

/// A folder that is mounted read-only between the project and the layer of each call of a session.
///
/// A mounted folder must not change. Every value of this type therefore holds a shared lock, and what changes the folder
/// takes it alone, or not at all: of two calls at once, the one that ends first leaves its noise in its own layer.
#[derive(Debug)]
pub struct SessionLayer {
    folder: PathBuf,
    project: PathBuf,
    lock: File,
}

impl SessionLayer {
    pub(crate) fn open(place: &Path, project: &Path, session: &str) -> Result<Self, LayerError> {
        // A session's id is another crate's text; a digest of it is a name.
        let text = format!("{}\0{session}", project.display());
        let digest = FileDigest::of(text.as_bytes()).to_string();
        let folder = place.join(digest.replace("sha256:", SESSION_PREFIX));
        loop {
            match DirBuilder::new().mode(0o700).create(&folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(LayerError::io("create", &folder)(error));
                }
                _ => {}
            }
            let lock = lock_shared(&folder)?;
            // Another process may have removed it before this one had the lock.
            if is_in_place(&folder, &lock) {
                let layer = Self { folder, project: project.to_owned(), lock };
                layer.make_upper()?;
                layer.write_record(session)?;
                return Ok(layer);
            }
        }
    }

    /// The folder to mount above the project.
    pub fn folder(&self) -> PathBuf {
        self.folder.join(UPPER)
    }

    /// The project it lies on.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// The folder in which layers of the session's calls are made: what is absorbed is renamed.
    pub(crate) fn place(&self) -> &Path {
        self.folder.parent().unwrap_or(&self.folder)
    }

    /// Whether it holds nothing, so that it need not be mounted.
    pub fn is_empty(&self) -> Result<bool, LayerError> {
        let folder = self.folder();
        let mut entries = std::fs::read_dir(&folder).map_err(LayerError::io("read", &folder))?;
        Ok(entries.next().is_none())
    }

    /// Moves the chosen changes of a call from its layer to this one. The call has ended and its overlay is not mounted any
    /// more; what of its changes is approved has been applied.
    ///
    /// Gives those that stay in the call's layer: they lie in a new folder that is not in the project, so later calls cannot see
    /// them. `None` while another call of the session is running: then everything stays there, pending.
    pub fn absorb(
        &self,
        layer: &Layer,
        changes: &ChangeSet,
        paths: &std::collections::BTreeSet<LayerPath>,
    ) -> Result<Option<Vec<LayerPath>>, LayerError> {
        if paths.is_empty() {
            // The list of a thousand changes would be read and written for nothing.
            return Ok(Some(Vec::new()));
        }
        let Some(_alone) = self.alone()? else { return Ok(None) };
        // First the list: noise that is lost to a kill is made again, while a change that is listed and gone could never be
        // applied.
        let mut rest = layer.read::<ChangeSet>(CHANGES)?.unwrap_or_default();
        rest.entries.retain(|change| !paths.contains(&change.path));
        layer.write(CHANGES, &rest)?;
        let mut expected: Expected = self.expected()?;
        let left = absorb(&self.folder(), layer, changes, paths, &mut expected)?;
        self.write_expected(&expected)?;
        Ok(Some(left))
    }

    /// What it holds, as changes of the project.
    pub fn changes(&self) -> Result<ChangeSet, LayerError> {
        let times = Times { expected: self.expected()?, ..Times::default() };
        compare(&self.folder(), &self.project, None, Marks::own(), times)
    }

    /// Turns everything in it into a layer of its own, which can be applied, discarded and undone like a call's. `None` while
    /// a call of the session is running.
    pub fn to_layer(&self, origin: CallOrigin) -> Result<Option<Layer>, LayerError> {
        let Some(_alone) = self.alone()? else { return Ok(None) };
        let blank = BlankLayer::make(self.place())?;
        let mut layer = Layer::begin(blank, &self.project, origin, None, LONG_AGO)?;
        layer.write(EXPECTED, &self.expected()?)?;
        layer.forget_beginning()?;
        // Takes the place of the new layer's empty folder.
        let upper = self.folder();
        std::fs::rename(&upper, layer.upper()).map_err(LayerError::io("move", &upper))?;
        self.write_expected(&Expected::new())?;
        self.make_upper()?;
        Ok(Some(layer))
    }

    /// Forgets everything in it. Gives whether it could: not while a call of the session is running.
    pub fn discard(&self) -> Result<bool, LayerError> {
        let Some(_alone) = self.alone()? else { return Ok(false) };
        let upper = self.folder();
        remove_tree(&upper).map_err(LayerError::io("remove", &upper))?;
        self.write_expected(&Expected::new())?;
        self.make_upper()?;
        Ok(true)
    }

    /// Removes the layers of sessions that no call has used since a time, in milliseconds since 1970.
    pub(crate) fn prune(place: &Path, oldest: u64) -> Result<usize, LayerError> {
        let entries = std::fs::read_dir(place).into_iter().flatten().filter_map(io::Result::ok);
        let mut removed = 0;
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(SESSION_PREFIX)) {
            let folder = entry.path();
            let used = std::fs::metadata(&folder).map_err(LayerError::io("read", &folder))?.mtime();
            if u64::try_from(used).unwrap_or(0).saturating_mul(1000) >= oldest {
                continue;
            }
            let lock = open_folder(&folder)?;
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => {}
                Err(error) => return Err(LayerError::io("lock", &folder)(error)),
                Ok(()) => {
                    remove_tree(&folder).map_err(LayerError::io("remove", &folder))?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }

    /// Whose layer a folder holds; `None` where it is not a session's, or holds nothing.
    pub(crate) fn record(folder: &Path) -> Option<SessionRecord> {
        let mut record: SessionRecord = read_optional(&folder.join(RECORD)).ok()??;
        record.id = folder.file_name()?.to_string_lossy().into_owned();
        let is_filled = std::fs::read_dir(folder.join(UPPER)).ok()?.next().is_some();
        is_filled.then_some(record)
    }

    fn write_record(&self, session: &str) -> Result<(), LayerError> {
        let path = self.folder.join(RECORD);
        if path.exists() {
            return Ok(());
        }
        let record =
            SessionRecord { id: String::new(), project: self.project.clone(), session: session.to_owned() };
        write_record(&path, &record)
    }

    fn make_upper(&self) -> Result<(), LayerError> {
        let upper = self.folder();
        // Two calls of the session may begin at once.
        match make_upper(&upper, &self.project) {
            Err(LayerError::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    fn expected(&self) -> Result<Expected, LayerError> {
        Ok(read_optional(&self.folder.join(EXPECTED))?.unwrap_or_default())
    }

    /// Also sets the time of the folder, by which [`SessionLayer::prune`] goes.
    fn write_expected(&self, expected: &Expected) -> Result<(), LayerError> {
        write_record(&self.folder.join(EXPECTED), expected)
    }

    /// The right to change it; `None` while another value has it mounted.
    fn alone(&self) -> Result<Option<Alone<'_>>, LayerError> {
        // The kernel gives the shared lock up before it takes the other one. Nothing waits for that one, so nothing can
        // come between.
        match flock(&self.lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Alone(&self.lock))),
            Err(Errno::WOULDBLOCK) => {
                flock(&self.lock, FlockOperation::LockShared)
                    .map_err(LayerError::io("lock", &self.folder))?;
                Ok(None)
            }
            Err(error) => Err(LayerError::io("lock", &self.folder)(error)),
        }
    }
}

/// While it lives, no call has the session's layer mounted.
struct Alone<'a>(&'a File);

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        // The value stays usable for another call. Without the lock nothing is lost but the right to mount it, and a
        // later attempt to change it asks again.
        let _ = flock(self.0, FlockOperation::LockShared);
    }
}

fn open_folder(folder: &Path) -> Result<File, LayerError> {
    File::open(folder).map_err(LayerError::io("open", folder))
}

fn lock_shared(folder: &Path) -> Result<File, LayerError> {
    let lock = open_folder(folder)?;
    flock(&lock, FlockOperation::LockShared).map_err(LayerError::io("lock", folder))?;
    Ok(lock)
}

fn is_in_place(folder: &Path, lock: &File) -> bool {
    let (Ok(held), Ok(found)) = (lock.metadata(), std::fs::metadata(folder)) else { return false };
    (held.dev(), held.ino()) == (found.dev(), found.ino())
}
