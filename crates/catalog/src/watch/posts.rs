//! Which folder is watched for what, and what an event in it means.

use super::dirt::{Dirt, Scope};
use super::holdings::Holdings;
use super::surrounds::Surrounds;
use crate::disabled::DISABLED_FILE;
use crate::layout::CREW_SUFFIX;
use crate::visit::Visited;
use metier_files::{
    DocumentName, Found, Interest, Place, Problem, Wait, Waker, Watch, WatchError, WatchEvent, WatchToken,
    is_link,
};
use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folders that are watched.
#[derive(Debug)]
pub(super) struct Posts {
    watch: Watch,
    /// What each is watched for. A folder can have several roles, such as a root that a project's file lies in.
    roles: HashMap<WatchToken, Vec<Post>>,
    /// Counts the times that roles were given out; those of an earlier time are taken back.
    round: u32,
}

#[derive(Debug)]
struct Post {
    role: Role,
    round: u32,
}

/// Why a folder is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    /// It is a skill, or should be one: its document matters.
    Skill(Place),
    /// It holds skills or could: its folders matter, and whether it becomes a skill.
    Group(Place),
    /// The document of a skill is a link to this name in it.
    Target(Place, OsString),
    /// These names in it matter to the layout.
    Names(BTreeSet<OsString>),
    /// Crew files in it matter to the layout.
    Crew,
    /// It is on the way to something and must stay where it is.
    Way,
}

impl Role {
    fn interest(&self) -> Interest {
        match self {
            Self::Way => Interest::Itself,
            _ => Interest::Entries,
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Skill(place) | Self::Group(place) | Self::Target(place, _) => Some(place),
            Self::Names(_) | Self::Crew | Self::Way => None,
        }
    }
}

impl Posts {
    /// No posts yet, and never more than `limit` folders.
    pub(super) fn new(limit: usize) -> Result<Self, WatchError> {
        Ok(Self { watch: Watch::new(limit)?, roles: HashMap::new(), round: 0 })
    }

    /// How many folders are watched.
    pub(super) fn count(&self) -> usize {
        self.watch.count()
    }

    pub(super) fn waker(&self) -> Waker {
        self.watch.waker()
    }

    /// Watches everything that matters, and says whether something is watched that was not before. What happened there in
    /// between went unseen, so it has to be looked at once more.
    pub(super) fn set_all(&mut self, holdings: &Holdings) -> Result<bool, WatchError> {
        self.round += 1;
        let mut is_new = self.set_layout(holdings)?;
        is_new |= self.set_places(holdings, |_, _| true)?;
        self.take_back(|_| true);
        Ok(is_new)
    }

    /// The same for some places and what is below them.
    pub(super) fn set_some(&mut self, holdings: &Holdings, places: &[Place]) -> Result<bool, WatchError> {
        self.round += 1;
        let is_among = |root: usize, folder: &Path| {
            places.iter().any(|some| some.root == root && folder.starts_with(&some.folder))
        };
        let is_new = self.set_places(holdings, is_among)?;
        self.take_back(|role| role.place().is_some_and(|place| is_among(place.root, &place.folder)));
        Ok(is_new)
    }

    fn set_layout(&mut self, holdings: &Holdings) -> Result<bool, WatchError> {
        let surrounds = Surrounds::of(&holdings.layout);
        let outlook = surrounds.outlook(&holdings.layout);
        let mut is_new = false;
        for (folder, names) in outlook.names {
            is_new |= self.set(&folder, Role::Names(names))?;
        }
        for folder in &surrounds.crew_folders {
            is_new |= self.set(folder, Role::Crew)?;
        }
        for folder in &outlook.stay {
            is_new |= self.set(folder, Role::Way)?;
        }
        Ok(is_new)
    }

    fn set_places(
        &mut self,
        holdings: &Holdings,
        wanted: impl Fn(usize, &Path) -> bool,
    ) -> Result<bool, WatchError> {
        let harvest = &holdings.harvest;
        let mut is_new = false;
        for place in harvest.sweep.folders.iter().filter(|place| wanted(place.root, &place.folder)) {
            is_new |= self.set(&holdings.path(place.root, &place.folder), Role::Group(place.clone()))?;
        }
        for found in harvest.sweep.found.iter().filter(|found| wanted(found.root, &found.folder)) {
            let place = Place { root: found.root, folder: found.folder.clone() };
            if let Some(target) = target_of(found)
                && let (Some(folder), Some(name)) = (target.parent(), target.file_name())
            {
                is_new |= self.set(folder, Role::Target(place.clone(), name.to_owned()))?;
            }
            is_new |= self.set(&holdings.path(place.root, &place.folder), Role::Skill(place))?;
        }
        for problem in &harvest.sweep.problems {
            let (path, Some(root)) = (problem.path().unwrap_or(Path::new("")), problem.root()) else {
                continue;
            };
            let folder = match problem {
                Problem::UnreadableFile { .. } | Problem::NotAFile { .. } => path.parent().unwrap_or(path),
                _ => path,
            };
            let Ok(below) = folder.strip_prefix(&harvest.plan.roots[root].path) else { continue };
            let place = Place { root, folder: below.to_owned() };
            if wanted(place.root, &place.folder) {
                is_new |= self.set(folder, Role::Skill(place))?;
            }
        }
        Ok(is_new)
    }

    fn set(&mut self, folder: &Path, role: Role) -> Result<bool, WatchError> {
        let token = match self.watch.add(folder, role.interest()) {
            Ok(token) => token,
            // It went in this moment, which the folder above it tells; or it may not be read, which is a problem that the
            // snapshot names, and a change of its permissions is told by the folder above it too.
            Err(WatchError::Missing) => return Ok(false),
            Err(WatchError::System(error)) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let posts = self.roles.entry(token).or_default();
        if let Some(post) = posts.iter_mut().find(|post| post.role == role) {
            post.round = self.round;
            return Ok(false);
        }
        posts.push(Post { role, round: self.round });
        Ok(true)
    }

    /// Takes back the roles that were not given out again in this round. A folder that was renamed is the same one to the
    /// system, so it goes only when it has no role left.
    fn take_back(&mut self, concerned: impl Fn(&Role) -> bool) {
        let Self { watch, roles, round } = self;
        roles.retain(|token, posts| {
            posts.retain(|post| post.round == *round || !concerned(&post.role));
            if posts.is_empty() {
                watch.remove(*token);
            }
            !posts.is_empty()
        });
    }

    /// Waits, and notes what has to be looked at again.
    pub(super) fn wait(
        &mut self,
        timeout: Option<Duration>,
        holdings: &Holdings,
        dirt: &mut Dirt,
    ) -> Result<Wait, WatchError> {
        let Self { watch, roles, .. } = self;
        watch.wait(timeout, |event| match event {
            WatchEvent::Overflow => dirt.layout = true,
            WatchEvent::Entry { token, name, is_folder } => {
                for post in roles.get(&token).into_iter().flatten() {
                    note_entry(&post.role, name, is_folder, holdings, dirt);
                }
            }
            WatchEvent::Folder { token, is_gone } => {
                for post in roles.get(&token).into_iter().flatten() {
                    note_folder(&post.role, is_gone, dirt);
                }
            }
        })
    }
}

/// The real path of a document that is a link.
fn target_of(found: &Found<Visited>) -> Option<&Path> {
    found.value.loaded()?.card.document_target()
}

/// What it means that something happened to an entry of a folder.
fn note_entry(role: &Role, name: &OsStr, is_folder: bool, holdings: &Holdings, dirt: &mut Dirt) {
    let is_document = DocumentName::parse(name.as_bytes()).is_some();
    match role {
        Role::Skill(place) | Role::Group(place)
            if place.folder.as_os_str().is_empty() && name == DISABLED_FILE =>
        {
            dirt.states = true;
        }
        Role::Skill(place) if is_document => dirt.add(place.root, place.folder.clone(), Scope::Document),
        Role::Group(place) if is_document => dirt.add(place.root, place.folder.clone(), Scope::Tree),
        Role::Group(place) => {
            let folder: PathBuf = place.folder.join(name);
            // A link is told of like a file. Files beside skills come and go and mean nothing.
            let matters = is_folder
                || holdings.knows(place.root, &folder)
                || is_link(&holdings.path(place.root, &folder));
            if matters {
                dirt.add(place.root, folder, Scope::Tree);
            }
        }
        Role::Target(place, target) if target == name => {
            dirt.add(place.root, place.folder.clone(), Scope::Document);
        }
        Role::Names(names) => dirt.layout |= names.contains(name),
        Role::Crew => dirt.layout |= name.as_bytes().ends_with(CREW_SUFFIX.as_bytes()),
        Role::Skill(_) | Role::Target(..) | Role::Way => {}
    }
}

/// What it means that something happened to a folder itself.
fn note_folder(role: &Role, is_gone: bool, dirt: &mut Dirt) {
    match role {
        Role::Skill(place) | Role::Group(place) if place.folder.as_os_str().is_empty() && is_gone => {
            dirt.layout = true;
        }
        Role::Skill(place) | Role::Group(place) | Role::Target(place, _) => {
            dirt.add(place.root, place.folder.clone(), Scope::Tree);
        }
        Role::Names(_) | Role::Crew | Role::Way => dirt.layout |= is_gone,
    }
}
