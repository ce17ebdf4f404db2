//! Which changed paths are protected: what runs or is obeyed later, without the user doing anything for it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metier_changes::{Change, ChangeKind, ChangeSet, EntryKind, Layer, LayerPath};
use metier_files::{
    Kind, Planned, PlannedChanges, ProtectedPlaces, Survey, completing_parts, is_link, is_obeyed_in,
    is_repository, kind, may_hold_protected, maybe_repositories,
};
use metier_policy::{holds_git_control, is_guarded};

/// What the owner of a folder needs to look into it.
const OPEN: u32 = 0o500;

/// Why what belongs to a repository is protected.
const GIT: &str = "git runs or obeys it";

/// Why what makes a folder a repository is protected: its configuration and hooks may be there already.
const COMPLETING: &str = "git would take its folder for a repository";

/// Why a path is protected whose name the gate knows.
const NAMED: &str = "something runs or obeys it later";

/// The changes of a layer, for whoever follows links through them.
struct LayerChanges<'a> {
    set: &'a ChangeSet,
    upper: PathBuf,
}

impl LayerChanges<'_> {
    fn find(&self, path: &Path) -> Option<&Change> {
        let path = LayerPath::new(path.to_owned())?;
        let found = self.set.entries.binary_search_by(|change| change.path.cmp(&path));
        found.ok().map(|index| &self.set.entries[index])
    }
}

impl PlannedChanges for LayerChanges<'_> {
    fn at(&self, path: &Path) -> Planned {
        match self.find(path) {
            None => Planned::Same,
            Some(change) if change.entry.is_none() => Planned::Gone,
            Some(_) => Planned::At(self.upper.join(path)),
        }
    }

    fn names_in(&self, folder: &Path) -> Vec<OsString> {
        let Some(folder) = LayerPath::new(folder.to_owned()) else { return Vec::new() };
        let from = self.set.entries.partition_point(|change| change.path < folder);
        let below = self.set.entries[from..].iter().map(|change| &change.path);
        let below = below.take_while(|path| path.is_below(&folder)).map(LayerPath::as_path);
        let children = below.filter(|path| path.parent() == Some(folder.as_path()));
        children.filter_map(|path| Some(path.file_name()?.to_owned())).collect()
    }

    fn links(&self) -> Vec<PathBuf> {
        let is_link =
            |change: &&Change| change.entry.as_ref().is_some_and(|entry| entry.kind == EntryKind::Link);
        self.set.entries.iter().filter(is_link).map(|change| change.path.as_path().to_owned()).collect()
    }
}

/// What is protected in one project, for one set of changes.
#[derive(Debug)]
pub(super) struct Guard {
    places: ProtectedPlaces,
    /// Folders that are repositories without being called `.git`, before the changes or after them.
    repositories: BTreeSet<PathBuf>,
    /// What makes a folder a repository that was none.
    completing: BTreeSet<PathBuf>,
    /// Changed paths at which there is no folder afterwards, and was none where nothing is.
    not_folders: BTreeSet<LayerPath>,
    /// Folders that hold something protected and would be gone, or be a link or a file. What is below goes with them: a part of
    /// it alone would leave a broken repository.
    replaced: BTreeSet<PathBuf>,
    /// Folders that hold something protected and would be closed to their owner. The next call would not find what is
    /// protected in them.
    closed: BTreeSet<LayerPath>,
}

impl Guard {
    pub(super) fn new(survey: &Survey, layer: &Layer, set: &ChangeSet) -> Self {
        let project = survey.project();
        let changes = LayerChanges { set, upper: layer.upper() };
        let before = |path: &Path| {
            let path = project.join(path);
            kind(&path) != Kind::Missing || is_link(&path)
        };
        // A person may apply any part of the changes, so what one part of them deletes counts as well.
        let either =
            |path: &Path| before(path) || changes.find(path).is_some_and(|change| change.entry.is_some());
        let candidates: BTreeSet<&Path> =
            set.entries.iter().flat_map(|change| maybe_repositories(change.path.as_path())).collect();
        let (mut repositories, mut completing) = (BTreeSet::new(), BTreeSet::new());
        for folder in candidates {
            let (had, has) =
                (|name: &str| before(&folder.join(name)), |name: &str| either(&folder.join(name)));
            completing.extend(completing_parts(had, has).map(|name| folder.join(name)));
            if is_repository(has) {
                repositories.insert(folder.to_owned());
            }
        }
        let mut guard = Self {
            places: survey.protected_places(&changes),
            repositories,
            completing,
            not_folders: BTreeSet::new(),
            replaced: BTreeSet::new(),
            closed: BTreeSet::new(),
        };
        for Change { path, entry, kind: happened, .. } in &set.entries {
            let at = path.as_path();
            let mode = entry.as_ref().filter(|entry| entry.kind == EntryKind::Folder).map(|entry| entry.mode);
            match mode {
                Some(mode)
                    if *happened == ChangeKind::Attributes && mode & OPEN != OPEN && guard.holds(at) =>
                {
                    guard.closed.insert(path.clone());
                }
                Some(_) => {}
                None => {
                    let was_folder = is_folder(&project.join(at));
                    if (is_git(at) || entry.is_some() && may_hold_protected(at)) && was_folder {
                        guard.replaced.insert(at.to_owned());
                    }
                    if entry.is_some() || !was_folder {
                        guard.not_folders.insert(path.clone());
                    }
                }
            }
        }
        guard
    }

    /// Whether something protected is in a folder.
    fn holds(&self, folder: &Path) -> bool {
        is_git(folder)
            || self.places.in_folder(folder).is_some()
            || self.repositories.iter().any(|place| place.starts_with(folder))
    }

    /// Why a path is applied only with an approval that names it; `None` where it is not protected.
    pub(super) fn reason(&self, path: &LayerPath) -> Option<&'static str> {
        let at = path.as_path();
        if let Some(what) = self.places.reason(at, !self.not_folders.contains(path)) {
            return Some(what);
        }
        if self.closed.contains(path) {
            return Some("what it holds is protected, and would be closed");
        }
        if at.ancestors().any(|above| self.completing.contains(above)) {
            return Some(COMPLETING);
        }
        let is_git_file = at.ancestors().any(|above| self.replaced.contains(above))
            || self.is_of_repository(at, self.not_folders.contains(path));
        let is_named = || is_guarded(&at.to_string_lossy()) && !is_git(at);
        if is_git_file { Some(GIT) } else { is_named().then_some(NAMED) }
    }

    /// Git obeys the configuration and runs the hooks of every repository, by whatever name or link it is reached.
    fn is_of_repository(&self, path: &Path, is_no_folder: bool) -> bool {
        let mut above = path.ancestors().skip(1);
        if above.any(|folder| self.repositories.contains(folder) && is_obeyed_in(folder, path)) {
            return true;
        }
        let as_git = |folder: &PathBuf| Some(Path::new(".git").join(path.strip_prefix(folder).ok()?));
        let names = self.repositories.iter().filter_map(as_git).chain(self.places.other_names(path));
        let is_in_git = |name: &Path| {
            let text = name.to_string_lossy();
            is_guarded(&text) && !is_git(name) || is_no_folder && holds_git_control(&text)
        };
        let has_git = path.ancestors().skip(1).any(is_git);
        has_git && is_in_git(path) || names.into_iter().any(|name| is_in_git(&name))
    }
}

fn is_git(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}

/// Whether there is a folder, and not a link to one.
fn is_folder(path: &Path) -> bool {
    kind(path) == Kind::Folder && !is_link(path)
}
