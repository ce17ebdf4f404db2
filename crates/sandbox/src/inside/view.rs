//! What a contained process sees of the file system. One list, from which the mounts and the Landlock rules are both
//! made, so that the two layers cannot disagree about what was meant.

use std::path::{Path, PathBuf};

use super::doors::Doors;
use crate::profile::{Profile, ProjectAccess};
use crate::tier::Tier;

/// Where the scratch folder of a call lies in a view that is made of mounts.
pub(crate) const SCRATCH: &str = "/tmp";

/// The home folder of a call, inside its scratch folder.
pub(crate) const HOME: &str = ".home";

/// Shared memory of a call, inside its scratch folder.
pub(crate) const SHARED_MEMORY: &str = ".shm";

/// The system's own programs and libraries, which every contained process sees, with everything in them.
pub const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store"];

/// Settings of the system. What in it is secret only root may read, and nothing here runs as root; a list of what
/// programs need was tried, and each program that met a file it could not read, such as git its `/etc/gitconfig`, failed.
pub(crate) const SETTINGS: &str = "/etc";

/// Devices that are no device: they hold nothing and control nothing.
pub(crate) const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What can be done with a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rights {
    /// Read, list, execute.
    Read,
    /// And write.
    Write,
}

/// A file or folder that is shown where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) rights: Rights,
    /// Whether nothing works without it; else it may be missing.
    pub(crate) required: bool,
    /// Whether it is a data folder, which belongs to whom the call runs as on every tier.
    pub(crate) owned: bool,
    /// What is shown there, where that is not what lies there.
    pub(crate) stand_in: Option<PathBuf>,
}

impl Place {
    /// Something that is shown where it lies, and belongs to whom it belongs.
    pub(crate) fn new(path: &Path, rights: Rights, required: bool) -> Self {
        Self { path: path.to_owned(), rights, required, owned: false, stand_in: None }
    }

    /// Where what is shown lies.
    pub(crate) fn source(&self) -> &Path {
        self.stand_in.as_deref().unwrap_or(&self.path)
    }
}

/// What a contained process sees, apart from the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// The outer ones first, and of equal ones the one that counts last.
    pub(crate) places: Vec<Place>,
    /// The project's folder, where each call has a layer for it. It is mounted when the call is known, and what lies in
    /// it is mounted above it: it is one of the places, and inner ones are, too.
    pub(crate) layered: Option<PathBuf>,
    /// What cannot be opened inside them.
    pub(crate) masks: Vec<PathBuf>,
    /// What cannot be opened of the system; the masks have it, too.
    pub(crate) hidden: Vec<PathBuf>,
    /// What this tier could not show.
    pub(crate) notes: Vec<String>,
}

impl View {
    pub(crate) fn new(profile: &Profile, tier: Tier) -> Self {
        let (mut places, mut layered, mut masks, mut notes) = (Vec::new(), None, Vec::new(), Vec::new());
        let mut add = |paths: &[PathBuf], rights: Rights, required: bool| {
            places.extend(paths.iter().map(|path| Place::new(path, rights, required)));
        };
        add(&profile.programs, Rights::Read, false);
        match &profile.project {
            Some(project) if tier == Tier::Landlock => notes.push(format!(
                "the project {} is not shown: without namespaces nothing in it could be masked",
                project.folder.display()
            )),
            Some(project) => {
                masks.clone_from(&project.masked);
                match project.access {
                    // Nothing reaches the project by itself, so nothing has to be protected.
                    ProjectAccess::Layered => {
                        add(std::slice::from_ref(&project.folder), Rights::Write, true);
                        layered = Some(project.folder.clone());
                    }
                    ProjectAccess::ReadOnly => {
                        add(std::slice::from_ref(&project.folder), Rights::Read, true);
                        add(&project.writable, Rights::Write, true);
                        add(&project.protected, Rights::Read, false);
                    }
                }
            }
            None => {}
        }
        add(&profile.readable, Rights::Read, true);
        add(&profile.writable, Rights::Write, true);
        places.extend(profile.stand_ins.iter().map(|stand_in| Place {
            stand_in: Some(stand_in.by.clone()),
            ..Place::new(&stand_in.at, Rights::Read, true)
        }));
        places.extend(
            profile.data_paths().map(|path| Place { owned: true, ..Place::new(path, Rights::Write, true) }),
        );
        // An inner place is mounted over the outer one, so the outer one comes first. The sort is stable: of equal
        // paths the one named later is mounted last and counts.
        places.sort_by_key(|place| place.path.components().count());
        let places = with_pins(without_repeats(places), layered.as_deref());
        Self { places, layered, masks, hidden: Vec::new(), notes }
    }

    /// Masks sockets and pipes that lie in what can be read. Those of the project are named by whoever looked through it
    /// for secrets. One that is made there later is not seen.
    pub(crate) fn close_doors(&mut self, profile: &Profile) {
        for place in &profile.readable {
            let doors = Doors::find(place);
            if doors.is_partial {
                self.notes.push(format!(
                    "{} holds too much to look through: sockets and pipes in the rest are not masked",
                    place.display()
                ));
            }
            if let Some(first) = doors.paths.first() {
                self.notes.push(match doors.paths.len() - 1 {
                    0 => format!("{} is a socket or a pipe: it is masked", first.display()),
                    more => {
                        format!("{} and {more} more are sockets or pipes: they are masked", first.display())
                    }
                });
            }
            self.masks.extend(doors.paths);
        }
    }

    /// Hides files and folders of the system.
    pub(crate) fn hide(&mut self, hidden: Vec<PathBuf>) {
        self.masks.extend(hidden.iter().cloned());
        self.hidden = hidden;
    }

    /// Whether a path is the layered project or lies in it, so that it is mounted when the call is known.
    pub(crate) fn is_layered(&self, path: &Path) -> bool {
        self.layered.as_ref().is_some_and(|folder| path.starts_with(folder))
    }

    /// The places that are opened where they lie: all but the layered project itself, of which each call opens the layers.
    pub(crate) fn opened(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| self.layered.as_ref() != Some(&place.path))
    }

    /// Whether something is shown at this path or below it.
    pub(crate) fn has_below(&self, path: &Path) -> bool {
        self.places.iter().any(|place| place.path.starts_with(path))
    }

    /// The places that lie in the scratch folder's own place, and so have to be shown anew in every call.
    pub(crate) fn is_late(path: &Path) -> bool {
        path.starts_with(SCRATCH)
    }
}

/// Leaves out what an outer place shows already with the same rights, with nothing between them that says otherwise.
fn without_repeats(places: Vec<Place>) -> Vec<Place> {
    let mut kept: Vec<Place> = Vec::new();
    for place in places {
        let system = SYSTEM.iter().any(|folder| place.path.starts_with(folder));
        let nearest = kept
            .iter()
            .rev()
            .filter(|outer| place.path.starts_with(&outer.path))
            .max_by_key(|outer| outer.path.components().count());
        let shown = match nearest {
            _ if place.stand_in.is_some() => false,
            // What lies in the folder that a copy stands for is not in the copy.
            Some(outer) if outer.stand_in.is_some() => false,
            Some(outer) => outer.rights == place.rights && outer.path != place.path,
            None => system && place.rights == Rights::Read,
        };
        if !shown {
            kept.retain(|other| other.path != place.path);
            kept.push(place);
        }
    }
    kept
}

/// Adds every folder between a writable place and a read-only one inside it. Such a folder is mounted on itself, for a
/// mount cannot be renamed: else `.git` could be moved away with its protected `hooks`, and another one put there. Not in a
/// layer, where whatever is put there is a change like any other.
fn with_pins(mut places: Vec<Place>, layered: Option<&Path>) -> Vec<Place> {
    let mut pins: Vec<Place> = Vec::new();
    let in_place = |place: &&Place| !layered.is_some_and(|folder| place.path.starts_with(folder));
    for inner in places.iter().filter(|place| place.rights == Rights::Read).filter(in_place) {
        let nearest = |path: &Path| {
            let outer = places.iter().filter(|place| path.starts_with(&place.path));
            outer.max_by_key(|place| place.path.components().count())
        };
        for folder in inner.path.ancestors().skip(1) {
            let Some(outer) = nearest(folder) else { break };
            let known = outer.path == folder || pins.iter().any(|pin| pin.path == folder);
            if outer.rights == Rights::Write && !known {
                pins.push(Place { owned: outer.owned, ..Place::new(folder, outer.rights, false) });
            }
        }
    }
    places.extend(pins);
    places.sort_by_key(|place| place.path.components().count());
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{DataFolder, Project, ProjectAccess};

    fn shown(profile: &Profile, tier: Tier) -> Vec<String> {
        View::new(profile, tier)
            .places
            .iter()
            .map(|place| {
                let sign = if place.rights == Rights::Write { "w" } else { "r" };
                format!("{sign} {}", place.path.display())
            })
            .collect()
    }

    fn profile() -> Profile {
        let mut profile = Profile::new("/p/.claude/skills/s".into());
        profile.project = Some(Project {
            access: ProjectAccess::ReadOnly,
            folder: "/p".into(),
            writable: vec![],
            masked: vec!["/p/.env".into()],
            protected: vec!["/p/.git/hooks".into()],
        });
        profile.data = vec![DataFolder::new("/d/s".into())];
        profile.programs = vec!["/usr/local/x".into(), "/home/u/.nvm/v20".into()];
        profile
    }

    #[test]
    fn what_is_shown_already_is_not_mounted_again() {
        assert_eq!(shown(&profile(), Tier::Namespaces), ["r /p", "w /d/s", "r /home/u/.nvm/v20"]);
    }

    #[test]
    fn in_a_writable_project_the_skill_and_the_protected_places_stay_read_only() {
        let mut profile = profile();
        profile.project.as_mut().unwrap().writable = vec!["/p".into()];
        assert_eq!(
            shown(&profile, Tier::Namespaces),
            [
                "w /p",
                "w /d/s",
                "w /p/.git",
                "w /p/.claude",
                "r /p/.git/hooks",
                "w /p/.claude/skills",
                "r /home/u/.nvm/v20",
                "r /p/.claude/skills/s"
            ]
        );
    }

    #[test]
    fn in_a_layered_project_only_the_skill_is_mounted_apart_and_nothing_is_pinned() {
        let mut profile = profile();
        profile.project.as_mut().unwrap().access = ProjectAccess::Layered;
        assert_eq!(
            shown(&profile, Tier::Namespaces),
            ["w /p", "w /d/s", "r /home/u/.nvm/v20", "r /p/.claude/skills/s"]
        );
        let view = View::new(&profile, Tier::Namespaces);
        assert!(view.is_layered(Path::new("/p/.env")) && !view.is_layered(Path::new("/d/s")));
        assert!(view.opened().all(|place| place.path != Path::new("/p")) && view.opened().count() == 3);
    }

    #[test]
    fn every_data_folder_can_be_written_on_every_tier() {
        let mut profile = profile();
        profile.data.push(DataFolder::new("/d/shared".into()));
        for tier in [Tier::Namespaces, Tier::Bubblewrap, Tier::Landlock] {
            let shown = shown(&profile, tier);
            for place in ["w /d/s", "w /d/shared"] {
                assert!(shown.contains(&place.to_owned()), "{tier}: {shown:?}");
            }
            let view = View::new(&profile, tier);
            let owned = view.places.iter().filter(|place| place.owned).count();
            assert_eq!(owned, 2, "{tier}");
        }
    }

    #[test]
    fn nothing_is_pinned_where_nothing_can_be_written() {
        let mut profile = profile();
        let project = profile.project.as_mut().unwrap();
        project.writable = vec!["/p/docs".into()];
        project.protected.extend(["/p/docs/.vscode".into(), "/p/docs/a/b/.bashrc".into()]);
        assert_eq!(
            shown(&profile, Tier::Namespaces),
            [
                "r /p",
                "w /p/docs",
                "w /d/s",
                "r /p/docs/.vscode",
                "w /p/docs/a",
                "r /home/u/.nvm/v20",
                "w /p/docs/a/b",
                "r /p/docs/a/b/.bashrc"
            ]
        );
    }

    #[test]
    fn without_mounts_the_project_is_not_shown_and_that_is_said() {
        let profile = profile();
        assert_eq!(
            shown(&profile, Tier::Landlock),
            ["w /d/s", "r /home/u/.nvm/v20", "r /p/.claude/skills/s"]
        );
        assert_eq!(View::new(&profile, Tier::Landlock).notes.len(), 1);
    }
}
