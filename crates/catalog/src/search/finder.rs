//! The search index of a snapshot.

use super::cache;
use super::gather::{Content, Look, Looks, gather};
use super::route::{Route, Routed};
use super::shortlist::SHORTLIST_LENGTH;
use crate::entry::EntryId;
use crate::identity::AsItIs;
use crate::snapshot::Snapshot;
use metier_search::{Desk, Hit, Index, Key, Reasons, Request};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

/// Segments beyond which they are made one. Each costs a lookup per word.
const MAX_SEGMENTS: usize = 4;

/// The search index of a snapshot: see the module.
///
/// It never changes what it was made for. [`Finder::follow`] gives the one for the next snapshot, reading only what changed; whoever
/// has the old one keeps it.
#[derive(Debug)]
pub struct Finder {
    snapshot: Arc<Snapshot>,
    index: Arc<Index>,
    /// The skills of each content, in the order of the snapshot.
    owners: Owners,
    looks: Looks,
    synced: Synced,
    /// Where it is kept.
    file: Option<PathBuf>,
    /// Room to work in, kept between requests; who finds it taken makes another.
    desk: Mutex<Desk>,
    /// The last short route. A session routes a request to offer skills, and the offline planner routes it again at once.
    last: Mutex<Option<LastRoute>>,
}

/// A request with its route.
#[derive(Debug)]
struct LastRoute {
    request: String,
    limit: usize,
    route: Route,
}

/// The skills of each content, by content and then in the order of the snapshot.
#[derive(Debug)]
struct Owners {
    all: Vec<(Key, EntryId)>,
    /// How many contents there are.
    contents: usize,
}

impl Owners {
    fn new(mut all: Vec<(Key, EntryId)>) -> Self {
        all.sort_unstable();
        let contents = all.chunk_by(|(one, _), (other, _)| one == other).count();
        Self { all, contents }
    }

    fn of(&self, key: Key) -> &[(Key, EntryId)] {
        let from = self.all.partition_point(|(other, _)| *other < key);
        let rest = &self.all[from..];
        &rest[..rest.iter().take_while(|(other, _)| *other == key).count()]
    }
}

/// What it took to know all skills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Synced {
    /// Skills that can be found.
    pub skills: usize,
    /// Documents that were read for it.
    pub read: usize,
    /// Whether what is kept on disk is behind.
    pub changed: bool,
}

impl Finder {
    /// The index of a snapshot. With a cache folder, what is kept there is not read again.
    pub fn open(snapshot: Arc<Snapshot>, cache: Option<&Path>) -> Self {
        let roots = snapshot.layout().roots.iter().map(|root| root.path.as_path());
        let file = cache.map(|cache| cache::file_for(cache, roots));
        let cached = file.as_deref().and_then(cache::read).unwrap_or_default();
        let looks: Looks = cached.looks.into_iter().collect();
        Self::sync(snapshot, Index::new(cached.segments), &looks, file)
    }

    /// The index of the next snapshot.
    #[must_use]
    pub fn follow(&self, snapshot: Arc<Snapshot>) -> Self {
        Self::sync(snapshot, (*self.index).clone(), &self.looks, self.file.clone())
    }

    fn sync(snapshot: Arc<Snapshot>, mut index: Index, looks: &Looks, file: Option<PathBuf>) -> Self {
        let indexed: HashSet<Key, AsItIs> = index.keys().collect();
        let gathered = gather(&snapshot, looks, &|key| indexed.contains(&key));
        let owners = Owners::new(gathered.known.iter().map(|known| (known.key, known.entry)).collect());
        let known = gathered.known.iter();
        let next_looks: Looks = known.filter_map(|known| Some((known.look?, known.key))).collect();
        let is_gone =
            indexed.len() != owners.contents || indexed.iter().any(|key| owners.of(*key).is_empty());
        let changed = !gathered.segments.is_empty() || next_looks != *looks;
        if is_gone {
            index.bury(|key| owners.of(key).is_empty());
        }
        for segment in gathered.segments {
            index.push(segment);
        }
        if index.segments().len() > 1 {
            // Two threads may have read the same content, and a content that went may have come back; one of the two is enough.
            index.part_twins();
        }
        if index.segments().len() > MAX_SEGMENTS
            || index.gone() * 4 > index.len()
            || (indexed.is_empty() && index.segments().len() > 1)
        {
            index = Index::new(vec![index.merged()]);
        }
        let synced = Synced { skills: gathered.known.len(), read: gathered.read, changed };
        let index = Arc::new(index);
        Self {
            snapshot,
            index,
            owners,
            looks: next_looks,
            synced,
            file,
            desk: Mutex::default(),
            last: Mutex::default(),
        }
    }

    /// Writes what it knows to the cache folder, if there is one and it changed.
    pub fn save(&self) -> io::Result<()> {
        let Some(file) = self.file.as_deref().filter(|_| self.synced.changed) else { return Ok(()) };
        let mut looks: Vec<(Look, Key)> = self.looks.iter().map(|(look, key)| (*look, *key)).collect();
        looks.sort_unstable();
        cache::write(file, self.index.segments(), &looks)
    }

    /// Brings the whole index into memory: for a program that routes again and again. One that asks once reads less without it.
    #[must_use]
    pub fn held(mut self) -> Self {
        Arc::make_mut(&mut self.index).fetch();
        self
    }

    /// What it took to know all skills.
    pub fn synced(&self) -> Synced {
        self.synced
    }

    /// The snapshot it is for.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The skills that fit a request, best first, at most `limit`.
    pub fn route(&self, request: &str, limit: usize) -> Route {
        if let Some(route) = self.last_route(request, limit) {
            return route;
        }
        let mut route = self.route_request(&Request::new(request), limit);
        route.skills.retain(|routed| self.is_meant(routed.entry, request));
        // Longer routes are large, and only listings ask for them.
        if limit <= SHORTLIST_LENGTH {
            let last = LastRoute { request: request.to_owned(), limit, route: route.clone() };
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
        }
        route
    }

    /// The route of the same request, if it was the last one. The snapshot and the index never change, so neither does the route.
    fn last_route(&self, request: &str, limit: usize) -> Option<Route> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let same = last.as_ref().filter(|last| last.limit == limit && last.request == request)?;
        Some(same.route.clone())
    }

    /// Whether a skill that is for certain files is asked for: the request names one of them.
    fn is_meant(&self, entry: EntryId, request: &str) -> bool {
        let Some(entry) = self.snapshot.entry(entry).filter(|entry| !entry.paths().is_empty()) else {
            return true;
        };
        crate::touch::files_named(request).any(|file| entry.is_for(Path::new(file)))
    }

    /// The same for a request that was taken apart before.
    pub fn route_request(&self, request: &Request, limit: usize) -> Route {
        let ranking = self.at_desk(|desk| self.index.rank(request, limit, desk));
        let routed = ranking.hits.into_iter().filter_map(|hit| self.routed(&hit));
        Route { skills: routed.collect(), abstain: ranking.abstain, searched: self.synced.skills }
    }

    fn routed(&self, hit: &Hit) -> Option<Routed> {
        let ((_, entry), others) = self.owners.of(hit.key).split_first()?;
        let copies = hit.copies.iter().flat_map(|key| self.owners.of(*key));
        let also = others.iter().chain(copies).map(|(_, entry)| *entry).collect();
        Some(Routed { entry: *entry, score: hit.score, parts: hit.parts, also })
    }

    /// Why a skill has its rank: its text is read again for it.
    pub fn reasons(&self, request: &str, entry: EntryId) -> Reasons {
        let Some(entry) = self.snapshot.entry(entry) else { return Reasons::default() };
        let content = Content::read(&self.snapshot, entry);
        let request = Request::new(request);
        self.index.reasons(&request, &content.text())
    }

    fn at_desk<T>(&self, work: impl FnOnce(&mut Desk) -> T) -> T {
        match self.desk.try_lock() {
            Ok(mut desk) => work(&mut desk),
            Err(TryLockError::Poisoned(desk)) => work(&mut desk.into_inner()),
            Err(TryLockError::WouldBlock) => work(&mut Desk::default()),
        }
    }
}
