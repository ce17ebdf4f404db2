//! Rounds: the roots first, then the folders that links lead to, then those that links in them lead to.
//!
//! A folder of skills behind a link is entered only if neither its own root nor an earlier one walks it anyway, and of
//! several links to it in one root the first by path is taken. Which links there are is known at the end of a round,
//! so the choice does not depend on the race within it, and since every round enters folders that no round before it
//! entered for that root, the rounds end.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::folder::to_path;
use super::merge;
use super::order::{Order, compare_paths};
use super::queue::Queue;
use super::root::{OpenRoot, open_roots};
use super::worker::{GroupLink, Haul, Job, Walk, Walked, Worker};
use super::{Bounds, Candidate, Place, Problem, Repeat, Sweep, SweepRoot};
use crate::Extent;

/// Listing a flat root is one worker's job and a tenth of all the work, so more workers than this would wait for it.
const MAX_WORKERS: usize = 8;

/// Sweeps in this order, and says whether all entries were within the bound.
pub(super) fn sweep_in<T: Send, F: Fn(Candidate<'_>) -> T + Sync>(
    order: Order,
    roots: &[SweepRoot],
    bounds: &Bounds,
    places: Option<&[Place]>,
    visit: &F,
) -> (Sweep<T>, Extent) {
    let mut problems = Vec::new();
    let roots = open_roots(roots, &mut problems);
    let (listed, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut runs = Vec::new();
    let mut repeats = Vec::new();
    let mut walked = WalkedFolders::default();
    let mut folders = Vec::new();
    let mut jobs = first_jobs(&roots, places);
    while !jobs.is_empty() {
        let walk = Walk { queue: Queue::new(jobs), bounds, order, visit, listed: &listed, over: &over };
        let mut links = Vec::new();
        for haul in work_together(&walk) {
            runs.push(haul.found);
            problems.extend(haul.problems);
            links.extend(haul.links);
            folders.extend(haul.walked.iter().map(Walked::place));
            walked.pending.extend(haul.walked);
        }
        if order == Order::Any && over.load(Ordering::Relaxed) {
            return (
                Sweep { found: Vec::new(), repeats: Vec::new(), problems: Vec::new(), folders },
                Extent::Truncated,
            );
        }
        jobs = walked.choose(links, &mut repeats);
    }
    let is_over = over.load(Ordering::Relaxed);
    if is_over {
        problems.push(Problem::EntryBound { limit: bounds.entries });
    }
    let sweep = merge::merge(&roots, runs, repeats, problems, folders);
    (sweep, if is_over { Extent::Truncated } else { Extent::Whole })
}

/// Where the walk begins: at the roots, or at places in them.
fn first_jobs<'a>(roots: &'a [OpenRoot<'a>], places: Option<&[Place]>) -> Vec<Job<'a>> {
    let Some(places) = places else { return roots.iter().map(Job::Root).collect() };
    let job = |place: &Place| {
        let root = roots.iter().find(|root| root.index == place.root)?;
        let path = place.folder.as_os_str().as_bytes();
        Some(if path.is_empty() { Job::Root(root) } else { Job::Place(root, path.to_vec()) })
    };
    places.iter().filter_map(job).collect()
}

/// Runs one worker here and, once there is enough to do, others beside it.
fn work_together<'a, T: Send, F: Fn(Candidate<'_>) -> T + Sync>(walk: &Walk<'a, F>) -> Vec<Haul<'a, T>> {
    let hauls = Mutex::new(Vec::new());
    let keep = |haul| hauls.lock().unwrap_or_else(PoisonError::into_inner).push(haul);
    thread::scope(|scope| {
        let keep = &keep;
        let recruit = || {
            // With this thread that is one worker more than processors, so that none is idle while a worker waits.
            let extra = processors().min(MAX_WORKERS - 1);
            give_and_take(2 * HEAP);
            walk.queue.expect(extra);
            for _ in 0..extra {
                let worker = move || {
                    give_and_take(HEAP);
                    keep(Worker::new(walk, None).run());
                };
                let started = thread::Builder::new().name("sweep".to_owned()).spawn_scoped(scope, worker);
                // Without threads the work is done all the same, only by fewer.
                if started.is_err() {
                    walk.queue.excuse();
                }
            }
        };
        let recruit: Option<&dyn Fn()> = (walk.order == Order::Any).then_some(&recruit);
        keep(Worker::new(walk, recruit).run());
    });
    hauls.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What a worker's results take in a tree of many thousand skills.
const HEAP: usize = 2 << 20;

/// Takes memory and gives it back untouched. The allocator of the GNU C library lets the heap of a thread grow by the pages
/// that each allocation needs, with a system call for which all threads of the process wait; a heap that was once as large
/// keeps that room, as long as nothing larger was ever given back. So the caller goes first, with more. Elsewhere this does
/// nothing, and no page of it is ever touched.
fn give_and_take(bytes: usize) {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(bytes)));
}

/// On how many processors we may run. The standard library's answer also knows a container's quota, for which it reads
/// several files: that takes as long as finding twenty skills, and a sweep is over before a quota bites.
fn processors() -> usize {
    if let Ok(set) = rustix::thread::sched_getaffinity(None) {
        return usize::try_from(set.count()).unwrap_or(1);
    }
    thread::available_parallelism().map_or(1, usize::from)
}

/// The real folders that were listed, each with the first place it was listed at.
#[derive(Default)]
struct WalkedFolders<'a> {
    /// Not yet looked at: without links nobody asks.
    pending: Vec<Walked<'a>>,
    places: HashMap<PathBuf, Place>,
}

impl<'a> WalkedFolders<'a> {
    /// Which of these links are followed in the next round; the others repeat a folder that is walked already.
    fn choose(&mut self, mut links: Vec<GroupLink<'a>>, repeats: &mut Vec<Repeat>) -> Vec<Job<'a>> {
        if links.is_empty() {
            return Vec::new();
        }
        for walked in std::mem::take(&mut self.pending) {
            let place = walked.place();
            let real = walked.real.unwrap_or_else(|| walked.root.real_below(&walked.path));
            self.add(real, place);
        }
        links.sort_unstable_by(|a, b| {
            a.root.index.cmp(&b.root.index).then_with(|| compare_paths(&a.path, &b.path))
        });
        let mut jobs = Vec::new();
        for link in links {
            let place = Place { root: link.root.index, folder: to_path(&link.path) };
            match self.places.get(&link.real) {
                Some(same_as) if same_as.root <= place.root => {
                    repeats.push(Repeat { place, same_as: same_as.clone() });
                }
                _ => {
                    self.add(link.real.clone(), place);
                    jobs.push(Job::Link(link));
                }
            }
        }
        jobs
    }

    /// An earlier root counts before a later one; within a root one real folder is listed at one place first.
    fn add(&mut self, real: PathBuf, place: Place) {
        use std::collections::hash_map::Entry;
        match self.places.entry(real) {
            Entry::Occupied(mut entry) => {
                let known = entry.get();
                if (place.root, &place.folder) < (known.root, &known.folder) {
                    entry.insert(place);
                }
            }
            Entry::Vacant(entry) => {
                entry.insert(place);
            }
        }
    }
}
