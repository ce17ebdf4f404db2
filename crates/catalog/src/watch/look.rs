//! Checking instead of being told: what the system says of each file without opening it.

use super::dirt::{Dirt, Scope};
use super::holdings::Holdings;
use super::surrounds::Surrounds;
use crate::disabled::DISABLED_FILE;
use metier_files::{DocumentName, Place, Stamp};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How everything that matters looked at one moment.
#[derive(Debug, Default)]
pub(super) struct Look {
    stamps: HashMap<Watched, Option<Stamp>>,
}

/// Something to check.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Watched {
    /// A file or folder that the layout depends on.
    Layout(PathBuf),
    /// A root's `.disabled.json`.
    States(PathBuf),
    /// Something that kept a sweep from finding what may be there.
    Problem(PathBuf),
    /// The document of a skill.
    Document { place: Place, path: PathBuf, was_read: bool },
    /// A folder that holds skills or could.
    Folder(Place, PathBuf),
}

impl Look {
    /// Looks at everything that is held.
    pub(super) fn take(holdings: &Holdings) -> Self {
        let stamps = watched(holdings).map(|one| {
            let stamp = Stamp::of(one.path());
            (one, stamp)
        });
        Self { stamps: stamps.collect() }
    }

    /// Whether everything looks as it did at a moment before: nothing of it was changed since. What was read and is not there any
    /// more was.
    pub(super) fn is_settled(&self, since: SystemTime) -> bool {
        self.stamps.iter().all(|(one, stamp)| match stamp {
            Some(stamp) => stamp.is_settled(since),
            None => !matches!(one, Watched::Document { was_read: true, .. }),
        })
    }

    /// What looks other than it did before, or was not there to be looked at: nobody knows what was read of it.
    pub(super) fn since(&self, before: &Self) -> Dirt {
        let is_gone = |one: &Watched| matches!(one, Watched::Layout(_)) && !self.stamps.contains_key(one);
        // A root that was missing and is there now, or a crew file that is gone, is not among what is looked at any more.
        let mut dirt = Dirt { layout: before.stamps.keys().any(is_gone), ..Dirt::default() };
        for (one, stamp) in &self.stamps {
            let known = before.stamps.get(one);
            if known == Some(stamp) {
                continue;
            }
            match one {
                Watched::Layout(_) => dirt.layout = true,
                Watched::States(_) => dirt.states = true,
                Watched::Problem(_) => dirt.roots = true,
                Watched::Folder(place, _) if place.folder.as_os_str().is_empty() && stamp.is_none() => {
                    dirt.layout = true;
                }
                Watched::Document { place, .. } if stamp.is_some() && known.is_some() => {
                    dirt.add(place.root, place.folder.clone(), Scope::Document);
                }
                Watched::Document { place, .. } | Watched::Folder(place, _) => {
                    dirt.add(place.root, place.folder.clone(), Scope::Tree);
                }
            }
        }
        dirt
    }
}

impl Watched {
    fn path(&self) -> &Path {
        match self {
            Self::Layout(path)
            | Self::States(path)
            | Self::Problem(path)
            | Self::Document { path, .. }
            | Self::Folder(_, path) => path,
        }
    }
}

fn watched(holdings: &Holdings) -> impl Iterator<Item = Watched> {
    let Surrounds { paths, crew_files, .. } = Surrounds::of(&holdings.layout);
    let harvest = &holdings.harvest;
    let roots = holdings.layout.roots.iter().filter(|root| root.real.is_some());
    let layout = paths.into_iter().chain(crew_files).map(Watched::Layout);
    let states = roots.map(|root| Watched::States(root.path.join(DISABLED_FILE)));
    let problems = harvest.sweep.problems.iter().filter_map(|problem| problem.path()).map(Path::to_owned);
    let folders = harvest.sweep.folders.iter().map(|place| {
        let path = holdings.path(place.root, &place.folder);
        Watched::Folder(place.clone(), path)
    });
    let found = harvest.sweep.found.iter().flat_map(|found| {
        let place = Place { root: found.root, folder: found.folder.clone() };
        let folder = holdings.path(place.root, &place.folder);
        let card = found.value.loaded().map(|loaded| &loaded.card);
        let target = card.and_then(|card| card.document_target());
        let name = card.map_or(DocumentName::CANONICAL, |card| card.document_name.as_str());
        let path = target.map_or_else(|| folder.join(name), Path::to_owned);
        // A file of another spelling may get one of the right spelling beside it, and one that never loaded may be
        // spelled in any way; their folders tell.
        let is_usual = target.is_none() && card.is_some_and(|card| card.document_name.is_canonical());
        let folder = (!is_usual).then(|| Watched::Folder(place.clone(), folder));
        folder.into_iter().chain([Watched::Document { place, path, was_read: card.is_some() }])
    });
    layout.chain(states).chain(problems.map(Watched::Problem)).chain(folders).chain(found)
}
