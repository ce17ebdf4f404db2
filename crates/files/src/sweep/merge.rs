//! One sweep from what the workers brought home.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::order::{compare_paths, sort_key};
use super::root::OpenRoot;
use super::{Found, Place, Problem, Repeat, Sweep};

pub(super) fn merge<T>(
    roots: &[OpenRoot<'_>],
    runs: Vec<Vec<Found<T>>>,
    mut repeats: Vec<Repeat>,
    mut problems: Vec<Problem>,
    mut folders: Vec<Place>,
) -> Sweep<T> {
    let mut found = merge_runs(runs);
    if may_repeat(roots, &found) {
        found = without_repeats(roots, found, &mut repeats);
    }
    repeats.sort_unstable_by(|a, b| compare_places(&a.place, &b.place));
    problems.sort_by(Problem::compare);
    // Every worker reports the first folder that was too deep for it; the first of those is the first.
    let mut told = HashSet::new();
    problems.retain(|problem| match problem {
        Problem::DepthBound { root, .. } => told.insert(*root),
        _ => true,
    });
    folders.sort_unstable_by(compare_places);
    Sweep { found, repeats, problems, folders }
}

/// Sorts by root and path. What is moved about while sorting is small keys, not the values, which may be large.
pub(super) fn sort_run<T>(found: &mut [Found<T>]) {
    struct Key {
        path: u128,
        root: u32,
        place: u32,
    }
    let path = |found: &Found<T>| sort_key(found.folder.as_os_str().as_bytes());
    let rest = |key: &Key| {
        found.get(key.place as usize).map_or(&b""[..], |found| found.folder.as_os_str().as_bytes())
    };
    let mut keys: Vec<Key> = (0..)
        .zip(&*found)
        .map(|(place, found)| Key {
            path: path(found),
            root: u32::try_from(found.root).unwrap_or(u32::MAX),
            place,
        })
        .collect();
    // Folders were visited in sorted pieces, and this is the sort that makes use of them.
    keys.sort_by(|a, b| {
        (a.root, a.path).cmp(&(b.root, b.path)).then_with(|| compare_paths(rest(a), rest(b)))
    });
    for index in 0..keys.len() {
        // What belongs here may have been swapped to a later place in the meantime: follow where it went.
        let mut from = keys[index].place;
        while (from as usize) < index {
            from = keys[from as usize].place;
        }
        found.swap(index, from as usize);
        keys[index].place = from;
    }
}

/// Merges lists that are sorted already. There are as many as workers and rounds, so looking at each first one is
/// cheaper than anything clever.
fn merge_runs<T>(runs: Vec<Vec<Found<T>>>) -> Vec<Found<T>> {
    let mut merged = Vec::with_capacity(runs.iter().map(Vec::len).sum());
    let mut runs: Vec<_> =
        runs.into_iter().filter(|run| !run.is_empty()).map(|run| run.into_iter().peekable()).collect();
    loop {
        let mut least: Option<(usize, &Found<T>)> = None;
        for (index, run) in runs.iter_mut().enumerate() {
            if let Some(next) = run.peek()
                && least.is_none_or(|(_, least)| compare_found(next, least).is_lt())
            {
                least = Some((index, next));
            }
        }
        let Some((index, _)) = least else { return merged };
        merged.extend(runs.get_mut(index).and_then(Iterator::next));
    }
}

/// Whether one real folder can have been found twice. Without links below the roots and with roots apart from each
/// other it cannot, and 10,000 real paths need not be made.
fn may_repeat<T>(roots: &[OpenRoot<'_>], found: &[Found<T>]) -> bool {
    let overlap = roots.iter().enumerate().any(|(index, root)| {
        roots[..index]
            .iter()
            .any(|other| root.real.starts_with(&other.real) || other.real.starts_with(&root.real))
    });
    overlap || found.iter().any(|found| found.real.is_some())
}

/// Keeps the first of the skills that are the same real folder.
fn without_repeats<T>(
    roots: &[OpenRoot<'_>],
    found: Vec<Found<T>>,
    repeats: &mut Vec<Repeat>,
) -> Vec<Found<T>> {
    let mut first: HashMap<PathBuf, Place> = HashMap::with_capacity(found.len());
    let mut kept = Vec::with_capacity(found.len());
    for skill in found {
        let real = match &skill.real {
            Some(real) => real.clone(),
            None => roots
                .iter()
                .find(|root| root.index == skill.root)
                .map(|root| root.real_below(skill.folder.as_os_str().as_bytes()))
                .unwrap_or_default(),
        };
        let place = Place { root: skill.root, folder: skill.folder.clone() };
        if let Some(same_as) = first.get(&real) {
            repeats.push(Repeat { place, same_as: same_as.clone() });
        } else {
            first.insert(real, place);
            kept.push(skill);
        }
    }
    kept
}

fn compare_found<T>(a: &Found<T>, b: &Found<T>) -> Ordering {
    let order = || compare_paths(a.folder.as_os_str().as_bytes(), b.folder.as_os_str().as_bytes());
    a.root.cmp(&b.root).then_with(order)
}

fn compare_places(a: &Place, b: &Place) -> Ordering {
    let order = || compare_paths(a.folder.as_os_str().as_bytes(), b.folder.as_os_str().as_bytes());
    a.root.cmp(&b.root).then_with(order)
}
