//! A project as it is and as it would be with changes, both at once.
//!
//! A person may apply any part of the changes. So where a link differs between the two states, both of its targets are
//! followed: whatever part is applied, the way it makes is among those that were followed.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::places::{Planned, PlannedChanges};
use crate::{names_in, read_bounded};

/// How many steps one path may take through links. The kernel gives up at 40 links; two states can take more ways.
const MAX_STEPS: usize = 512;

/// What is at a path in one of the two states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Missing,
    File,
    Folder,
    Link(PathBuf),
}

/// Where a path leads.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// The links on it that are in the project, absolute.
    pub(super) links: BTreeSet<PathBuf>,
    /// Where it ends, absolute and without links.
    pub(super) ends: BTreeSet<PathBuf>,
}

/// Both states of a project.
pub(super) struct Tree<'a> {
    project: &'a Path,
    changes: &'a dyn PlannedChanges,
}

impl<'a> Tree<'a> {
    pub(super) fn new(project: &'a Path, changes: &'a dyn PlannedChanges) -> Self {
        Self { project, changes }
    }

    /// A path seen from the project, if it is below it.
    pub(super) fn inside<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.strip_prefix(self.project).ok().filter(|inside| !inside.as_os_str().is_empty())
    }

    /// Whether a folder is the project or holds it.
    pub(super) fn is_around(&self, folder: &Path) -> bool {
        self.project.starts_with(folder)
    }

    /// Where the content of an absolute path lies in the two states: one place where the changes leave it alone, none in a state
    /// in which it is gone.
    fn sources(&self, path: &Path) -> (PathBuf, Option<Planned>) {
        let planned = self.inside(path).map(|inside| self.changes.at(inside));
        (path.to_owned(), planned.filter(|planned| *planned != Planned::Same))
    }

    /// What is at an absolute path, whose folder is reached without links: in one state or in two.
    pub(super) fn look(&self, path: &Path) -> Vec<Found> {
        let (before, planned) = self.sources(path);
        let mut found = vec![look(&before)];
        match planned {
            Some(Planned::At(after)) => found.push(look(&after)),
            Some(Planned::Gone) => found.push(Found::Missing),
            Some(Planned::Same) | None => {}
        }
        found.dedup();
        found
    }

    /// The content of a file in each state.
    pub(super) fn read(&self, path: &Path, limit: u64) -> Vec<Vec<u8>> {
        let (before, planned) = self.sources(path);
        let after =
            planned.and_then(|planned| if let Planned::At(after) = planned { Some(after) } else { None });
        let files = std::iter::once(before).chain(after);
        files.filter_map(|file| read_bounded(&file, limit).ok().flatten()).collect()
    }

    /// The names in a folder, of both states.
    pub(super) fn names(&self, folder: &Path, limit: usize) -> BTreeSet<OsString> {
        let mut names: BTreeSet<OsString> = names_in(folder, limit).into_iter().collect();
        if let Some(inside) = self.inside(folder) {
            names.extend(self.changes.names_in(inside).into_iter().take(limit));
        }
        names
    }

    /// Follows an absolute path link by link.
    pub(super) fn follow(&self, path: &Path) -> Way {
        let mut way = Way::default();
        let mut seen = BTreeSet::new();
        let mut open = vec![self.start(path)];
        while let Some((at, mut rest)) = open.pop() {
            if seen.len() >= MAX_STEPS || !seen.insert((at.clone(), rest.clone())) {
                continue;
            }
            let Some(step) = rest.pop_front() else {
                way.ends.insert(at);
                continue;
            };
            if step == ".." {
                open.push((at.parent().map_or_else(|| at.clone(), Path::to_owned), rest));
                continue;
            }
            let next = at.join(&step);
            for found in self.look(&next) {
                if let Found::Link(target) = found {
                    if self.inside(&next).is_some() {
                        way.links.insert(next.clone());
                    }
                    let (from, mut steps) = if target.is_absolute() {
                        self.start(&target)
                    } else {
                        (at.clone(), steps_of(&target))
                    };
                    steps.extend(rest.iter().cloned());
                    open.push((from, steps));
                } else {
                    open.push((next.clone(), rest.clone()));
                }
            }
        }
        way
    }

    /// Where following begins: the project's own path has no links.
    fn start(&self, path: &Path) -> (PathBuf, VecDeque<OsString>) {
        match path.strip_prefix(self.project) {
            Ok(inside) => (self.project.to_owned(), steps_of(inside)),
            Err(_) => (PathBuf::from("/"), steps_of(path)),
        }
    }
}

fn steps_of(path: &Path) -> VecDeque<OsString> {
    let step = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(step).collect()
}

fn look(path: &Path) -> Found {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => fs::read_link(path).map_or(Found::File, Found::Link),
        Ok(metadata) if metadata.is_dir() => Found::Folder,
        Ok(_) => Found::File,
        Err(_) => Found::Missing,
    }
}
