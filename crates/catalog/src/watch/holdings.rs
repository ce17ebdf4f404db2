//! What the watcher holds: the layout, and what the sweeps gave for each folder of it.

use super::dirt::{Dirt, Scope};
use super::kept::keep_last_good;
use crate::identity::NameHasher;
use crate::layout::Layout;
use crate::snapshot::{Harvest, Include, Snapshot, Stamps};
use crate::swap::Catalog;
use crate::visit::Visited;
use metier_files::{Found, Place, Problem, Sweep};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The layout, and what the sweeps gave for each folder of it.
#[derive(Debug)]
pub(super) struct Holdings {
    pub(super) layout: Arc<Layout>,
    pub(super) harvest: Harvest,
    include: Include,
    /// Documents that were read. Shared with the watcher, who tells it.
    read: Arc<AtomicU64>,
}

impl Holdings {
    pub(super) fn new(catalog: &Catalog, read: Arc<AtomicU64>) -> Self {
        Self::of(Arc::new(Layout::new(&catalog.places, &catalog.choice)), catalog.include, read)
    }

    /// What the roots of a layout hold now.
    pub(super) fn of(layout: Arc<Layout>, include: Include, read: Arc<AtomicU64>) -> Self {
        let harvest = Harvest::gather(&layout, include, Stamps::Taken, NameHasher::default());
        read.fetch_add(harvest.sweep.found.len() as u64, Ordering::Relaxed);
        Self { layout, harvest, include, read }
    }

    /// Looks again at what may be other than it was, and no further than needed. Says whether that was all roots.
    pub(super) fn clean(&mut self, dirt: &Dirt) -> bool {
        if dirt.layout {
            self.layout = Arc::new(Layout::new(&self.layout.places, &self.layout.choice));
        }
        let looks_at_all = dirt.layout || dirt.roots || !self.look_at(&dirt.places());
        if looks_at_all {
            self.look_at_all();
        }
        looks_at_all
    }

    /// The snapshot of what is held. The cards are shared with it.
    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot::settle(Arc::clone(&self.layout), self.include, self.harvest.clone())
    }

    /// Whether anything was found at a place or below it, or kept us from finding it.
    pub(super) fn knows(&self, root: usize, folder: &Path) -> bool {
        let Sweep { found, repeats, problems, folders } = &self.harvest.sweep;
        let is_here = |place: &Place| place.root == root && place.folder == folder;
        let is_below_it = |found: &Found<Visited>| found.root == root && found.folder.starts_with(folder);
        let is_problem = || {
            let path = self.path(root, folder);
            problems.iter().any(|problem| is_below(problem, &path))
        };
        let at = found.partition_point(|found| (found.root, &*found.folder) < (root, folder));
        found.get(at).is_some_and(is_below_it)
            || folders.iter().any(is_here)
            || (!problems.is_empty() && is_problem())
            || repeats.iter().any(|repeat| is_here(&repeat.place))
    }

    /// The absolute path of a folder.
    pub(super) fn path(&self, root: usize, folder: &Path) -> PathBuf {
        self.harvest
            .plan
            .roots
            .get(root)
            .map(|root| crate::place::below(&root.path, folder))
            .unwrap_or_default()
    }

    fn look_at_all(&mut self) {
        let hasher = self.harvest.hasher.clone();
        let mut next = Harvest::gather(&self.layout, self.include, Stamps::Taken, hasher);
        self.read.fetch_add(next.sweep.found.len() as u64, Ordering::Relaxed);
        keep_last_good(&self.harvest.sweep.found, &self.harvest.plan, &mut next);
        reuse_cards(&self.harvest, &mut next);
        self.harvest = next;
    }

    /// Exchanges what is held of some places for what is there now. Gives up where that cannot be told without a look at
    /// everything else.
    fn look_at(&mut self, places: &[(Place, Scope)]) -> bool {
        if places.is_empty() {
            return true;
        }
        let wanted: Vec<Place> = places.iter().map(|(place, _)| place.clone()).collect();
        let sweep = self.harvest.look_at(&wanted);
        self.read.fetch_add(sweep.found.len() as u64, Ordering::Relaxed);
        // Where links lead from folder to folder, which of two paths stands for a skill depends on all of them.
        let all_in_place =
            places.iter().all(|(place, scope)| *scope == Scope::Document && self.stays(place, &sweep));
        let may_exchange = all_in_place || (self.is_plain() && is_plain_sweep(&sweep));
        if !may_exchange {
            return false;
        }
        let (plan, hasher) = (self.harvest.plan.clone(), self.harvest.hasher.clone());
        let mut next = Harvest { plan, hasher, sweep };
        let mut before = Vec::new();
        for place in &wanted {
            let path = self.path(place.root, &place.folder);
            let held = &mut self.harvest.sweep;
            before.extend(take_part(&mut held.found, place, |found| (found.root, &found.folder)));
            drop(take_part(&mut held.folders, place, |folder| (folder.root, &folder.folder)));
            held.problems.retain(|problem| !is_below(problem, &path));
        }
        keep_last_good(&before, &self.harvest.plan, &mut next);
        let held = &mut self.harvest.sweep;
        for found in next.sweep.found {
            insert(&mut held.found, found, |found| (found.root, &found.folder));
        }
        for folder in next.sweep.folders {
            insert(&mut held.folders, folder, |folder| (folder.root, &folder.folder));
        }
        held.problems.extend(next.sweep.problems);
        held.problems.sort_by(|a, b| (a.root(), a.path()).cmp(&(b.root(), b.path())));
        true
    }

    /// Whether a known skill was found again where it was, and nothing else there.
    fn stays(&self, place: &Place, sweep: &Sweep<Visited>) -> bool {
        let part = |list: &[Found<Visited>]| part(list, place, |found| (found.root, &found.folder));
        let (before, now) = (&self.harvest.sweep.found, &sweep.found);
        let (before, now) = (&before[part(before)], &now[part(now)]);
        matches!((before, now), ([a], [b]) if a.folder == b.folder && a.real == b.real)
    }

    /// Whether each folder stands for itself, so that a part can be exchanged without a look at the rest.
    fn is_plain(&self) -> bool {
        let reals: Vec<&Path> = self.layout.roots.iter().filter_map(|root| root.real.as_deref()).collect();
        let overlap = reals.iter().enumerate().any(|(at, root)| {
            reals[..at].iter().any(|other| root.starts_with(other) || other.starts_with(root))
        });
        !overlap && is_plain_sweep(&self.harvest.sweep)
    }
}

fn is_plain_sweep(sweep: &Sweep<Visited>) -> bool {
    sweep.repeats.is_empty()
        && sweep.found.iter().all(|found| found.real.is_none())
        && sweep.problems.iter().all(is_plain_problem)
}

/// Whether a problem concerns its own place alone. A bound is one of the whole walk, and what a link leads to is elsewhere.
fn is_plain_problem(problem: &Problem) -> bool {
    matches!(problem, Problem::Unreadable { .. } | Problem::UnreadableFile { .. } | Problem::NotAFile { .. })
}

fn is_below(problem: &Problem, path: &Path) -> bool {
    problem.path().is_some_and(|place| place.starts_with(path))
}

/// Which part of a list is at a place and below it. Lists are in the order of paths, where that is one piece.
fn part<T>(list: &[T], place: &Place, key: impl Fn(&T) -> (usize, &PathBuf)) -> Range<usize> {
    let start = list.partition_point(|one| key(one) < (place.root, &place.folder));
    let is_here = |one: &&T| key(one).0 == place.root && key(one).1.starts_with(&place.folder);
    start..start + list[start..].iter().take_while(is_here).count()
}

/// Takes that part out.
fn take_part<T>(list: &mut Vec<T>, place: &Place, key: impl Fn(&T) -> (usize, &PathBuf)) -> Vec<T> {
    let range = part(list, place, key);
    list.drain(range).collect()
}

/// Puts something where it belongs.
fn insert<T>(list: &mut Vec<T>, one: T, key: impl Fn(&T) -> (usize, &PathBuf)) {
    let at = list.partition_point(|other| key(other) < key(&one));
    list.insert(at, one);
}

/// Goes on with the old card of each skill that was read again and is the same. Snapshots then share it, and what has not
/// changed is told by the address alone.
fn reuse_cards(before: &Harvest, next: &mut Harvest) {
    let old_roots: Vec<&Path> = before.plan.roots.iter().map(|root| &*root.path).collect();
    let known = &before.sweep.found;
    let mut old = known.iter().peekable();
    let mut root = usize::MAX;
    for found in &mut next.sweep.found {
        if found.root != root {
            // Roots may have come, gone and changed their order; within a root both lists are in the order of paths.
            root = found.root;
            let path = &*next.plan.roots[root].path;
            let Some(was) = old_roots.iter().position(|old| *old == path) else {
                old = known[known.len()..].iter().peekable();
                continue;
            };
            let start = known.partition_point(|found| found.root < was);
            let end = known.partition_point(|found| found.root <= was);
            old = known[start..end].iter().peekable();
        }
        while old.next_if(|old| old.folder < found.folder).is_some() {}
        if let Some(same) = old.next_if(|old| old.folder == found.folder)
            && let (Visited::Loaded(old), Visited::Loaded(new)) = (&same.value, &mut found.value)
            && old.card == new.card
        {
            new.card = Arc::clone(&old.card);
        }
    }
}
