//! Which changed paths are protected: what runs or is obeyed later, without the user doing anything for it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metier_changes::{Change, ChangeKind, ChangeSet, EntryKind, Layer, LayerPath};
use metier_files::{
    Kind, Planned, PlannedChanges, ProtectedPlaces, Survey, is_link, kind, may_hold_protected,
};
use metier_policy::is_guarded;

/// What git runs or obeys in the folder of a repository, whatever the folder is called.
const OBEYED: [&str; 6] = ["config", "config.worktree", "hooks", "commondir", "modules", "worktrees"];

/// The parts of a repository by which git knows one.
const PARTS: [&str; 3] = ["HEAD", "objects", "refs"];

/// What the owner of a folder needs to look into it.
const OPEN: u32 = 0o500;

/// Why what belongs to a repository is protected.
const GIT: &str = "git runs or obeys it";

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
        let before = |path: &Path| kind(&project.join(path)) != Kind::Missing;
        let afterwards =
            |path: &Path| changes.find(path).map_or_else(|| before(path), |change| change.entry.is_some());
        let is_part = |part: &&Path| PARTS.iter().chain(&OBEYED).any(|name| part.ends_with(name));
        let parts = set.entries.iter().flat_map(|change| change.path.as_path().ancestors().filter(is_part));
        let candidates: BTreeSet<PathBuf> =
            parts.filter_map(|part| part.parent().map(Path::to_owned)).collect();
        let is_repository = |folder: &PathBuf| {
            let is = |exists: &dyn Fn(&Path) -> bool| {
                let has = |name: &str| exists(&folder.join(name));
                // With `commondir` the rest is elsewhere.
                has("HEAD") && (has("commondir") || has("objects") && has("refs"))
            };
            is(&before) || is(&afterwards)
        };
        let repositories = candidates.into_iter().filter(is_repository).collect();
        let mut guard = Self {
            places: survey.protected_places(&changes),
            repositories,
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
        let is_git_file =
            at.ancestors().any(|above| self.replaced.contains(above)) || self.is_of_repository(at);
        is_git_file.then_some(GIT)
    }

    /// Git obeys the configuration and runs the hooks of every repository, by whatever name or link it is reached.
    fn is_of_repository(&self, path: &Path) -> bool {
        let is_obeyed = |part: &Path| {
            part.file_name().is_some_and(|name| OBEYED.iter().any(|obeyed| name.eq_ignore_ascii_case(obeyed)))
        };
        let by_name = path.ancestors().any(|part| {
            part.parent().is_some_and(|folder| self.repositories.contains(folder)) && is_obeyed(part)
        });
        let as_git = |folder: &PathBuf| Some(Path::new(".git").join(path.strip_prefix(folder).ok()?));
        let mut names = self.repositories.iter().filter_map(as_git).chain(self.places.other_names(path));
        by_name || names.any(|name| is_guarded(&name.to_string_lossy()) && !is_git(&name))
    }
}

fn is_git(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}

/// Whether there is a folder, and not a link to one.
fn is_folder(path: &Path) -> bool {
    kind(path) == Kind::Folder && !is_link(path)
}
