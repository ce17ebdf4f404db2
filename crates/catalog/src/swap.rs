//! The catalogue of a running program: the snapshot in force, exchanged as a whole.

use crate::layout::{Layout, RootChoice};
use crate::places::Places;
use crate::snapshot::{Include, Snapshot};
use crate::watch::{WatchOptions, Watcher};
use arc_swap::ArcSwap;
use std::sync::Arc;

/// The snapshot in force, and how to make the next one.
///
/// Whoever asks gets an [`Arc`] and keeps it as long as it likes: a run that started with one snapshot ends with it,
/// whatever is loaded in between.
#[derive(Debug)]
pub struct Catalog {
    pub(crate) places: Places,
    pub(crate) choice: RootChoice,
    pub(crate) include: Include,
    current: ArcSwap<Snapshot>,
}

impl Catalog {
    /// Loads the first snapshot.
    pub fn load(places: Places, choice: RootChoice, include: Include) -> Self {
        let current = ArcSwap::from_pointee(take(&places, &choice, include));
        Self { places, choice, include, current }
    }

    /// Loads the first snapshot and follows changes of the files, with one look at them for both; [`Catalog::load`] and then
    /// [`Catalog::watch`] take two.
    pub fn follow(layout: Arc<Layout>, include: Include, options: WatchOptions) -> (Arc<Self>, Watcher) {
        Watcher::first(layout, include, options)
    }

    /// A catalogue that has its first snapshot already.
    pub(crate) fn holding(places: Places, choice: RootChoice, include: Include, first: Snapshot) -> Self {
        Self { places, choice, include, current: ArcSwap::from_pointee(first) }
    }

    /// The snapshot in force.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Follows changes of the files from here on: see [`Watcher`]. Everything is looked at once more, since nobody has
    /// watched since the load.
    pub fn watch(self: &Arc<Self>, options: WatchOptions) -> Watcher {
        Watcher::start(Arc::clone(self), options)
    }

    /// Puts another snapshot in force.
    pub(crate) fn store(&self, next: Arc<Snapshot>) {
        self.current.store(next);
    }

    /// Looks again, at roots, configuration and trust too, and puts the new snapshot in force.
    pub fn reload(&self) -> Arc<Snapshot> {
        let next = Arc::new(take(&self.places, &self.choice, self.include));
        self.current.store(Arc::clone(&next));
        next
    }
}

fn take(places: &Places, choice: &RootChoice, include: Include) -> Snapshot {
    Snapshot::load(Arc::new(Layout::new(places, choice)), include)
}
