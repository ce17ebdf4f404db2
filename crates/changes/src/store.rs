//! All layers, wherever they are.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use metier_files::{FolderLock, Mode, write_atomic};

use crate::blank::{BlankLayer, SPARE_PREFIX};
use crate::error::LayerError;
use crate::layer::{Layer, read_optional, read_record, to_json};
use crate::origin::{CallOrigin, millis, unix_millis};
use crate::path::LAYERS_NAME;
use crate::place::choose;
use crate::recover::{Recovered, settle};
use crate::remove::remove_tree;
use crate::session::{SESSION_PREFIX, SessionLayer, SessionRecord};
use crate::spares::Spares;
use crate::stamp::Time;
use crate::state::{LayerRecord, Standing};

/// The folder below metier's data folder.
const LAYERS: &str = "layers";
/// The list of all folders that hold layers, so that recovery finds them again.
const PLACES: &str = "places.json";

/// Where layers are kept for projects on any file system, and a list of them.
#[derive(Clone, Debug)]
pub struct LayerStore {
    layers: PathBuf,
    temporary: Vec<PathBuf>,
    spares: Arc<Spares>,
    /// What was changed until then was there before the first call.
    opened: Time,
}

/// Its time is that of the last pruning.
const PRUNED: &str = "pruned";

/// To prune, every list of changes is read.
const PRUNE_INTERVAL: Duration = Duration::from_hours(1);

/// How long layers are kept after a decision. What is pending is kept until there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// For how long.
    pub age: Duration,
    /// How many of one project.
    pub layers: usize,
}

/// A week, and twenty layers: long enough to notice a mistake, and little enough for any disk.
pub const DEFAULT_RETENTION: Retention = Retention { age: Duration::from_hours(7 * 24), layers: 20 };

/// How long a layer may be held by another process before it is busy. A process that starts a program shares its locks with
/// it until the program runs, so a lock may outlive its holder for a moment.
const OPEN_TIMEOUT: Duration = Duration::from_millis(200);

/// For a program that keeps nothing: what was decided goes at once.
pub const NO_RETENTION: Retention = Retention { age: Duration::ZERO, layers: 0 };

/// After this time a folder without a record is not a layer that is being made.
const MAX_MAKING_TIME: Duration = Duration::from_hours(1);

impl LayerStore {
    /// The layers of the user whose data folder this is.
    pub fn new(data: &Path) -> Self {
        // Memory first: nothing of it has to survive the machine's stop.
        let temporary = vec!["/dev/shm".into(), "/tmp".into()];
        Self { layers: data.join(LAYERS), temporary, spares: Arc::default(), opened: Time::now() }
    }

    /// The layers of a program that has no data folder, below a folder for temporary files.
    pub fn temporary(folder: &Path) -> Self {
        // Other users can write there too: the folder directly below is checked to belong to this user.
        let name = format!("metier-layers-{}", rustix::process::geteuid().as_raw());
        Self { layers: folder.join(name), ..Self::new(folder) }
    }

    /// Makes the layer for a call.
    pub fn create(&self, project: &Path, origin: CallOrigin) -> Result<Layer, LayerError> {
        self.begin(&self.place(project)?, project, origin, None)
    }

    /// Makes the layer for a call that sees the session's layer: [`SessionLayer::folder`] is mounted above the project.
    pub fn create_above(&self, session: &SessionLayer, origin: CallOrigin) -> Result<Layer, LayerError> {
        self.begin(session.place(), session.project(), origin, Some(session.folder()))
    }

    fn begin(
        &self,
        place: &Path,
        project: &Path,
        origin: CallOrigin,
        session: Option<PathBuf>,
    ) -> Result<Layer, LayerError> {
        let blank = match self.spares.take(place) {
            Some(blank) => blank,
            None => BlankLayer::make(place)?,
        };
        Layer::begin(blank, project, origin, session, self.opened)
    }

    /// Removes the layer of a call that changed nothing: after the answer, where more calls are to be expected.
    pub fn retire(&self, layer: Layer) -> Result<(), LayerError> {
        self.spares.retire(layer).map_or(Ok(()), Layer::remove)
    }

    /// The layer that the calls of a session share, made where it is missing. It is not changed while the value lives.
    pub fn session(&self, project: &Path, session: &str) -> Result<SessionLayer, LayerError> {
        SessionLayer::open(&self.place(project)?, project, session)
    }

    /// The sessions whose layers hold something, of all projects or of one.
    pub fn sessions(&self, project: Option<&Path>) -> Vec<SessionRecord> {
        let places = self.places();
        let records = places
            .iter()
            .flat_map(|place| folders_in(place))
            .filter_map(|folder| SessionLayer::record(&folder));
        records.filter(|record| project.is_none_or(|project| project == record.project)).collect()
    }

    /// What is known of all layers, or of a project's, the oldest first. A layer that cannot be read is left out.
    pub fn list(&self, project: Option<&Path>) -> Vec<LayerRecord> {
        let folders = self.folders().into_iter();
        folders.filter_map(|folder| row(&folder, project)).collect()
    }

    /// Opens a layer, if no other process works with it.
    pub fn open(&self, id: &str) -> Result<Layer, LayerError> {
        let folder =
            self.folders().into_iter().find(|folder| folder.file_name().is_some_and(|name| name == id));
        let folder = folder.ok_or_else(|| LayerError::Unknown { id: id.to_owned() })?;
        let until = Instant::now() + OPEN_TIMEOUT;
        loop {
            if let Some(layer) = Layer::reopen(&folder)? {
                return Ok(layer);
            }
            if Instant::now() >= until {
                return Err(LayerError::Busy { id: id.to_owned() });
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Finishes what an earlier process left of a project's layers, and gives those for which there was something to do.
    pub fn recover(&self, project: &Path) -> Result<Vec<Recovered>, LayerError> {
        let mut recovered = Vec::new();
        for folder in self.folders() {
            let is_ours = read_record(&folder).is_ok_and(|record| record.project == project);
            if is_ours && let Some(layer) = Layer::reopen(&folder)? {
                recovered.extend(settle(&layer)?);
            }
        }
        Ok(recovered)
    }

    /// Does the same once in a while: layers are made by calls, and hardly anybody lists them.
    pub fn prune_hourly(&self, retention: &Retention) -> Result<(), LayerError> {
        let stamp = self.layers.join(PRUNED);
        let age = std::fs::metadata(&stamp)
            .and_then(|found| found.modified())
            .ok()
            .and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age < PRUNE_INTERVAL) {
            return Ok(());
        }
        std::fs::write(&stamp, "").map_err(LayerError::io("write", stamp))?;
        self.prune(retention).map(drop)
    }

    /// Removes layers that were decided and are too old or too many. Gives how many.
    pub fn prune(&self, retention: &Retention) -> Result<usize, LayerError> {
        let oldest = unix_millis().saturating_sub(millis(retention.age));
        let mut kept: BTreeMap<PathBuf, usize> = BTreeMap::new();
        let mut removed = 0;
        // The youngest first.
        for folder in self.folders().into_iter().rev() {
            let Some(row) = row(&folder, None) else {
                removed += usize::from(remove_unmade(&folder)?);
                continue;
            };
            if !row.state.is_over() {
                continue;
            }
            let count = kept.entry(row.project).or_default();
            *count += 1;
            if (*count > retention.layers || row.origin.began < oldest)
                && let Some(layer) = Layer::reopen(&folder)?
            {
                layer.remove()?;
                removed += 1;
            }
        }
        for place in self.places() {
            removed += SessionLayer::prune(&place, oldest)?;
            if place.ends_with(LAYERS_NAME) {
                // Gone if it is empty.
                let _ = std::fs::remove_dir(&place);
            }
        }
        Ok(removed)
    }

    /// The folder for a project's layers, which is known from now on.
    fn place(&self, project: &Path) -> Result<PathBuf, LayerError> {
        if let Some(place) = self.spares.place(project) {
            return Ok(place);
        }
        let place = choose(&self.layers, &self.temporary, project)?;
        if place != self.layers {
            self.remember(&place)?;
        }
        self.spares.note_place(project, &place);
        Ok(place)
    }

    fn remember(&self, place: &Path) -> Result<(), LayerError> {
        if self.places().iter().any(|known| known == place) {
            return Ok(());
        }
        let index = self.layers.join(PLACES);
        std::fs::create_dir_all(&self.layers).map_err(LayerError::io("write", &index))?;
        // Two processes that add a place at once would lose one.
        let _lock = FolderLock::take(&self.layers).map_err(LayerError::io("lock", &self.layers))?;
        let mut places = self.places();
        places.retain(|known| known != &self.layers && known.exists());
        places.push(place.to_owned());
        write_atomic(&index, &to_json(&index, &places)?, Mode::Private)
            .map_err(LayerError::io("write", &index))
    }

    /// All folders that hold layers.
    fn places(&self) -> Vec<PathBuf> {
        let known: Option<Vec<PathBuf>> = read_optional(&self.layers.join(PLACES)).ok().flatten();
        let mut places = known.unwrap_or_default();
        places.push(self.layers.clone());
        places
    }

    /// The folders of all layers, by their names: the oldest first.
    fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = self.places().iter().flat_map(|place| layers_in(place)).collect();
        folders.sort_by(|left, right| left.file_name().cmp(&right.file_name()));
        folders
    }
}

/// The layers in a folder. One that is gone holds none: a folder in memory ends with the machine.
fn layers_in(place: &Path) -> impl Iterator<Item = PathBuf> {
    let is_session = |folder: &PathBuf| {
        folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SESSION_PREFIX))
    };
    folders_in(place).filter(move |folder| !is_session(folder))
}

fn folders_in(place: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(place).into_iter().flatten().filter_map(io::Result::ok);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|found| found.is_dir()));
    folders.map(|entry| entry.path())
}

fn row(folder: &Path, project: Option<&Path>) -> Option<LayerRecord> {
    let record = read_record(folder).ok()?;
    if project.is_some_and(|project| project != record.project) {
        return None;
    }
    let standing = Standing::read(folder).ok()?;
    Some(LayerRecord {
        id: folder.file_name()?.to_string_lossy().into_owned(),
        project: record.project,
        origin: record.origin,
        state: standing.state,
        applied: standing.count_applied(),
        applied_at: standing.applied.last().map(|journal| journal.applied_at),
        pending: standing.pending().map_or(0, |pending| pending.entries.len()),
    })
}

/// Removes what a process left that was killed while it made a layer. What holds a file is kept.
fn remove_unmade(folder: &Path) -> Result<bool, LayerError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_prefix(SPARE_PREFIX).unwrap_or(&name);
    let made: Option<u64> = name.split('-').next().and_then(|millis| millis.parse().ok());
    let is_old = made.is_some_and(|made| made.saturating_add(millis(MAX_MAKING_TIME)) < unix_millis());
    let is_empty = std::fs::read_dir(folder.join("upper")).map_or(true, |mut upper| upper.next().is_none());
    if !is_old || !is_empty {
        return Ok(false);
    }
    // A process that runs for long holds the lock of a layer that it keeps for its next call.
    let Some(_lock) = FolderLock::try_take(folder).map_err(LayerError::io("lock", folder))? else {
        return Ok(false);
    };
    remove_tree(folder).map_err(LayerError::io("remove", folder)).map(|()| true)
}
