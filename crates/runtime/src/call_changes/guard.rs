//! Which changed paths are protected: what runs or is obeyed later, without the user doing anything for it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use metier_changes::{Change, ChangeKind, ChangeSet, EntryKind, LayerPath};
use metier_files::{
    Kind, Presence, Survey, is_link, kind, link_target, may_hold_protected, names_in, plain_path,
    protected_part, real_path,
};

/// What git runs or obeys in the folder of a repository, whatever the folder is called.
const OBEYED: [&str; 6] = ["config", "config.worktree", "hooks", "commondir", "modules", "worktrees"];

/// The parts of a repository by which git knows one.
const PARTS: [&str; 3] = ["HEAD", "objects", "refs"];

/// What the owner of a folder needs to look into it.
const OPEN: u32 = 0o500;

/// What is protected in one project, for one set of changes.
#[derive(Debug)]
pub(super) struct Guard {
    /// Protected places that only this project has, seen from it: what git's configuration names, skills, targets of links
    /// at protected places.
    places: BTreeSet<PathBuf>,
    /// Folders that are repositories without being called `.git`, before the changes or after them.
    repositories: BTreeSet<PathBuf>,
    /// Changed paths that are links or files afterwards.
    not_folders: BTreeSet<LayerPath>,
    /// Folders that hold something protected and would be gone, or be a link or a file. What is below goes with them: a part of
    /// it alone would leave a broken repository.
    replaced: BTreeSet<PathBuf>,
    /// Folders that hold something protected and would be closed to their owner. The next call would not find what is
    /// protected in them.
    closed: BTreeSet<LayerPath>,
}

/// How deep links are looked for in protected folders. Hooks, workflows and editor settings lie one or two folders down.
const MAX_LINK_DEPTH: usize = 3;

/// How many names of one protected folder are looked at.
const MAX_NAMES: usize = 1000;

/// Adds what the links in a protected folder lead to.
fn links_in(folder: &Path, depth: usize, places: &mut Vec<PathBuf>) {
    for name in names_in(folder, MAX_NAMES) {
        let path = folder.join(name);
        if link_target(&path).is_some() {
            places.extend(led_to(&path));
        } else if depth > 0 && kind(&path) == Kind::Folder {
            links_in(&path, depth - 1, places);
        }
    }
}

impl Guard {
    pub(super) fn new(survey: &Survey, set: &ChangeSet) -> Self {
        let project = survey.project();
        let mut places = Vec::new();
        for protected in survey.protected() {
            places.push(protected.path.clone());
            match protected.presence {
                // What the link leads to is obeyed as well, also where nothing is there yet.
                Presence::Link => places.extend(led_to(&protected.path)),
                // So is what links inside of it lead to: a hook may be a link to a file of the project.
                Presence::Existing => links_in(&protected.path, MAX_LINK_DEPTH, &mut places),
                Presence::Missing => {}
            }
        }
        let inside = |path: PathBuf| path.strip_prefix(project).ok().map(Path::to_owned);
        let mut places: BTreeSet<PathBuf> = places.into_iter().filter_map(inside).collect();
        places.remove(Path::new(""));
        let before = |path: &Path| kind(&project.join(path)) != Kind::Missing;
        let afterwards = |path: &Path| {
            let known = LayerPath::new(path.to_owned()).and_then(|path| {
                let found = set.entries.binary_search_by(|change| change.path.cmp(&path));
                found.ok().map(|index| set.entries[index].entry.is_some())
            });
            known.unwrap_or_else(|| before(path))
        };
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
            places,
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
                    if (is_git(at) || entry.is_some() && may_hold_protected(at).is_some())
                        && is_folder(&project.join(at))
                    {
                        guard.replaced.insert(at.to_owned());
                    }
                    if entry.is_some() {
                        guard.not_folders.insert(path.clone());
                    }
                }
            }
        }
        guard
    }

    /// Whether something protected is in a folder.
    fn holds(&self, folder: &Path) -> bool {
        is_git(folder) || self.places.iter().chain(&self.repositories).any(|place| place.starts_with(folder))
    }

    /// Whether a path is applied only with an approval that names it.
    pub(super) fn covers(&self, path: &LayerPath) -> bool {
        let (at, is_folder) = (path.as_path(), !self.not_folders.contains(path));
        // Ordinary work changes git's folder, so only a file or a link in its place is protected.
        let by_table = protected_part(at).is_some();
        let by_project = at
            .ancestors()
            .any(|place| self.places.contains(place) && (!is_git(place) || !is_folder && at == place));
        // A link called `.github` brings workflows with it.
        let by_link = !is_folder && (is_git(at) || may_hold_protected(at).is_some());
        let by_folder =
            self.closed.contains(path) || at.ancestors().any(|above| self.replaced.contains(above));
        by_table || by_project || by_link || by_folder || self.is_of_repository(at)
    }

    /// Git obeys the configuration and runs the hooks of every repository.
    fn is_of_repository(&self, path: &Path) -> bool {
        path.ancestors().any(|part| {
            let is_obeyed = part
                .file_name()
                .is_some_and(|name| OBEYED.iter().any(|obeyed| name.eq_ignore_ascii_case(obeyed)));
            is_obeyed && part.parent().is_some_and(|folder| self.repositories.contains(folder))
        })
    }
}

fn is_git(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}

/// Where a link leads. Of one that leads to nothing, only the link itself is followed.
fn led_to(link: &Path) -> impl Iterator<Item = PathBuf> {
    // The first step as well: it may be a link itself, which can be exchanged.
    let named = link_target(link).and_then(|target| Some(plain_path(&link.parent()?.join(target))));
    named.into_iter().chain(real_path(link).ok())
}

/// Whether there is a folder, and not a link to one.
fn is_folder(path: &Path) -> bool {
    kind(path) == Kind::Folder && !is_link(path)
}
