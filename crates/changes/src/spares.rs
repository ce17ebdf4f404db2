//! What a store keeps between the calls of a process: where the layers of each project are, and one blank layer for each place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::blank::BlankLayer;
use crate::layer::Layer;
use crate::place::make_private;

/// Shared by all clones of a store.
#[derive(Debug, Default)]
pub(crate) struct Spares {
    kept: Arc<Mutex<Kept>>,
    worker: Mutex<Worker>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The place for the layers of each project. To find it, extended attributes are tried out on the disk.
    places: BTreeMap<PathBuf, PathBuf>,
    /// By their places.
    blanks: BTreeMap<PathBuf, BlankLayer>,
}

/// Whether somebody clears up after calls. A program that makes one call would start a thread in vain, so it begins with the
/// second one.
#[derive(Debug, Default)]
enum Worker {
    #[default]
    Unused,
    Wanted,
    Running {
        jobs: Sender<Layer>,
        thread: JoinHandle<()>,
    },
}

impl Spares {
    pub(crate) fn place(&self, project: &Path) -> Option<PathBuf> {
        // Whether it is this user's alone is looked at each time: another user could have exchanged it meanwhile.
        let place = lock(&self.kept).places.get(project).cloned()?;
        make_private(&place).is_ok().then_some(place)
    }

    pub(crate) fn note_place(&self, project: &Path, place: &Path) {
        lock(&self.kept).places.insert(project.to_owned(), place.to_owned());
    }

    /// The blank layer in a place, if one was made.
    pub(crate) fn take(&self, place: &Path) -> Option<BlankLayer> {
        let blank = lock(&self.kept).blanks.remove(place)?;
        blank.take(place)
    }

    /// Removes a layer that nothing was written to, and makes the next one: after the answer, where more calls are to be
    /// expected. Gives the layer back where that is up to the caller.
    pub(crate) fn retire(&self, layer: Layer) -> Option<Layer> {
        let mut worker = lock(&self.worker);
        match &*worker {
            Worker::Unused => {
                *worker = Worker::Wanted;
                Some(layer)
            }
            Worker::Wanted => {
                let (jobs, waiting) = channel::<Layer>();
                let kept = Arc::clone(&self.kept);
                let work = move || waiting.into_iter().for_each(|layer| replace(layer, &kept));
                let thread = std::thread::Builder::new().name("layers".to_owned()).spawn(work);
                let Ok(thread) = thread else { return Some(layer) };
                let rest = jobs.send(layer).err().map(|unsent| unsent.0);
                *worker = Worker::Running { jobs, thread };
                rest
            }
            Worker::Running { jobs, .. } => jobs.send(layer).err().map(|unsent| unsent.0),
        }
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        if let Worker::Running { jobs, thread } = std::mem::take(&mut *lock(&self.worker)) {
            // It ends when it has done what it was given.
            drop(jobs);
            let _ = thread.join();
        }
        std::mem::take(&mut lock(&self.kept).blanks).into_values().for_each(BlankLayer::remove);
    }
}

/// The next one first, since a call may wait for it.
fn replace(layer: Layer, kept: &Mutex<Kept>) {
    if let Some(place) = layer.folder().parent()
        && !lock(kept).blanks.contains_key(place)
        && let Ok(blank) = BlankLayer::make_spare(place)
    {
        lock(kept).blanks.insert(place.to_owned(), blank);
    }
    // What stays has an empty layer, and recovery removes it.
    let _ = layer.remove();
}

/// Whoever panicked held it between whole steps, so what is there can be used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
