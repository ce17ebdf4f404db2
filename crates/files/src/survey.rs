//! What a project holds that a script must not read, and must not write.

mod answers;
mod folder;
mod links;
pub(crate) mod pattern;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{AtFlags, CWD, fstat, openat, statat};
use rustix::io::Errno;

use self::answers::Found;
use self::folder::{Folder, What};
use crate::open::FOLDER;
use crate::protected::{PlannedChanges, Protected, ProtectedPlaces, UserPaths};
use crate::{Error, OsError, Stamp};

/// Where a look over a project ends. Folders near the top are looked at first, since secrets lie there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurveyBounds {
    /// Files and folders that are looked at.
    pub entries: usize,
    /// Folders inside folders.
    pub depth: usize,
    /// How long one look takes. The next goes on where it ended.
    pub time: Duration,
}

impl Default for SurveyBounds {
    fn default() -> Self {
        // The largest public projects have some 100,000 files outside of what is passed over, nested 20 deep, and take
        // half a second on a slow disk. Nobody waits longer than that for a script to begin.
        Self { entries: 200_000, depth: 32, time: Duration::from_secs(2) }
    }
}

/// Why not all of a project was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Bounded {
    /// There are more files and folders than the bound.
    #[error("the project has more than {limit} files and folders; {folders} folders were not looked at")]
    Entries {
        /// The bound.
        limit: usize,
        /// How many known folders were not looked at.
        folders: usize,
    },
    /// It took too long. The next look goes on.
    #[error("looking took longer than {} ms; {folders} folders were not looked at yet", limit.as_millis())]
    Time {
        /// The bound.
        limit: Duration,
        /// How many known folders were not looked at.
        folders: usize,
    },
    /// Folders are nested too deep.
    #[error("{folders} folders are nested deeper than {limit} and were not looked at")]
    Depth {
        /// The bound.
        limit: usize,
        /// How many.
        folders: usize,
    },
}

/// A file or folder that looks like a secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Secret {
    /// Where it is, absolute and without links.
    pub path: PathBuf,
    /// What it is, in words.
    pub what: &'static str,
}

/// A folder that could not be looked at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreadable {
    /// Where it is.
    pub path: PathBuf,
    /// What the system said.
    pub error: OsError,
}

/// Whether another look found something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Everything is as it was.
    Same,
    /// Something is there that was not, or the other way round.
    Other,
}

/// What a look over a project found: secrets, ways to processes outside, places that stay read-only.
///
/// The folder is held by its descriptor and nothing leads out of it: links are not followed, every folder is opened
/// beneath it. [`Survey::refresh`] asks each known folder whether it changed and reads those that did.
///
/// ```
/// # use metier_testkit::Workspace;
/// use metier_files::{Changed, Survey, SurveyBounds};
///
/// # let workspace = Workspace::new().file("app/.env", "A=1").file("app/.env.example", "A=").file("app/src/main.py", "");
/// # let project = workspace.join("app");
/// let mut survey = Survey::of(&project, SurveyBounds::default())?;
/// assert_eq!(survey.secrets()[0].path, project.join(".env"));
/// assert_eq!((survey.secrets().len(), survey.bounded()), (1, None));
/// assert_eq!(survey.refresh()?, Changed::Same);
/// # Ok::<(), metier_files::Error>(())
/// ```
#[derive(Debug)]
pub struct Survey {
    project: PathBuf,
    root: OwnedFd,
    bounds: SurveyBounds,
    /// By path below the project; the project's own is empty. In this order a folder comes before what it holds.
    folders: BTreeMap<CString, Folder>,
    /// Folders that were met and not read yet, nearest to the top first.
    pending: VecDeque<CString>,
    entries: usize,
    /// Files that are secrets and have other names as well.
    linked: HashSet<(u64, u64)>,
    buffer: Vec<u8>,
    user: UserPaths,
    found: Found,
}

impl Survey {
    /// Looks over `project`.
    pub fn of(project: &Path, bounds: SurveyBounds) -> Result<Self, Error> {
        let project = std::fs::canonicalize(project).map_err(|error| Error::from_io(project, error))?;
        let root = openat(CWD, &project, FOLDER, rustix::fs::Mode::empty()).map_err(|error| match error {
            Errno::NOTDIR => Error::NotAFolder { path: project.clone() },
            error => Error::from_io(&project, error.into()),
        })?;
        let mut survey = Self {
            project,
            root,
            bounds,
            folders: BTreeMap::new(),
            pending: VecDeque::from([CString::default()]),
            entries: 0,
            linked: HashSet::new(),
            buffer: Vec::new(),
            user: UserPaths::default(),
            found: Found::default(),
        };
        let mut read = HashSet::new();
        survey.go_on(&mut read);
        survey.settle(&read);
        Ok(survey)
    }

    /// The project's folder, without links.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// What looks like a secret, by path.
    pub fn secrets(&self) -> &[Secret] {
        &self.found.secrets
    }

    /// Sockets, pipes and devices, by path: ways to processes outside, which a read-only project leaves open.
    pub fn channels(&self) -> &[PathBuf] {
        &self.found.channels
    }

    /// Everything that a script must not open: secrets and channels, by path.
    pub fn masked(&self) -> Vec<PathBuf> {
        let secrets = self.found.secrets.iter().map(|secret| &secret.path);
        let mut masked: Vec<_> = secrets.chain(&self.found.channels).cloned().collect();
        masked.sort();
        masked.dedup();
        masked
    }

    /// The same with the user's own files, which may lie inside the project or name places of it.
    #[must_use]
    pub fn with_user(mut self, user: UserPaths) -> Self {
        self.user = user;
        self
    }

    pub(crate) fn user(&self) -> &UserPaths {
        &self.user
    }

    /// Places of the table, by path. [`Survey::protected_places`] has more: where links lead, and what git's configuration names.
    pub fn protected(&self) -> &[Protected] {
        &self.found.protected
    }

    /// Everything that is protected in the project, as it is and with changes.
    pub fn protected_places(&self, changes: &dyn PlannedChanges) -> ProtectedPlaces {
        ProtectedPlaces::new(self, changes)
    }

    /// The work trees of repositories: in the project, or the one it lies in.
    pub(crate) fn repositories(&self) -> &[PathBuf] {
        &self.found.repositories
    }

    /// Links with the name of a folder that holds protected places.
    pub(crate) fn holder_links(&self) -> &[PathBuf] {
        &self.found.holder_links
    }

    /// Folders that could not be looked at, by path. A script cannot read them either, as it runs as the same user.
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.found.unreadable
    }

    /// Why not everything was looked at, if so.
    pub fn bounded(&self) -> Option<Bounded> {
        self.found.bounded
    }

    /// Looks again at what changed, and goes on where the time was over. Cheap enough to be done before every run.
    pub fn refresh(&mut self) -> Result<Changed, Error> {
        // Another folder may be at the project's place; then nothing that is known counts.
        let here = statat(CWD, &self.project, AtFlags::SYMLINK_NOFOLLOW);
        let held = fstat(&self.root).map(|stat| Stamp::of_stat(&stat).identity());
        if here.map(|stat| Stamp::of_stat(&stat).identity()) != held {
            let before = std::mem::take(&mut self.found);
            let user = std::mem::take(&mut self.user);
            *self = Self::of(&self.project, self.bounds)?.with_user(user);
            return Ok(if self.found == before { Changed::Same } else { Changed::Other });
        }
        let stale: Vec<CString> = self
            .folders
            .iter()
            .filter(|(path, folder)| !folder.settled || self.stamp(path) != folder.stamp)
            .map(|(path, _)| path.clone())
            .collect();
        let mut read = HashSet::new();
        for path in stale {
            // What was in a folder that is gone went with it.
            if self.folders.contains_key(&path) {
                self.read(path.clone());
                read.insert(path);
            }
        }
        let rewritten = self.look_at_files(&read);
        self.go_on(&mut read);
        if read.is_empty() && !rewritten && self.found.bounded.is_none() {
            return Ok(Changed::Same);
        }
        Ok(self.settle(&read))
    }

    /// The stamp of a folder by its path. A link on the way leads to another stamp or to a folder that was read anew.
    fn stamp(&self, path: &CStr) -> Option<Stamp> {
        let stat = if path.is_empty() {
            fstat(&self.root)
        } else {
            statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW)
        };
        stat.ok().map(|stat| Stamp::of_stat(&stat))
    }

    /// Reads pending folders until a bound is reached. Its time is its own: in a project that never rests, looking again
    /// at what changed would leave none.
    fn go_on(&mut self, read: &mut HashSet<CString>) {
        let begin = Instant::now();
        while self.entries < self.bounds.entries && begin.elapsed() < self.bounds.time {
            let Some(path) = self.pending.pop_front() else {
                return;
            };
            self.read(path.clone());
            read.insert(path);
        }
    }

    /// Reads one folder and takes the place of what was known of it.
    fn read(&mut self, path: CString) {
        let room = self.bounds.entries.saturating_sub(self.entries);
        let known = self.folders.remove(&path);
        let known_entries = known.as_ref().map_or(0, |folder| folder.entries);
        let fresh = Folder::read(self.root.as_fd(), &path, room + known_entries, &mut self.buffer);
        self.entries -= known_entries;
        let before = known.map(|folder| folder.below).unwrap_or_default();
        let Some(mut folder) = fresh else {
            // Gone, or a link stands in its place.
            for name in before {
                self.forget(&below(&path, &name));
            }
            return;
        };
        let depth = if path.is_empty() { 0 } else { path.to_bytes().split(|&byte| byte == b'/').count() };
        if depth >= self.bounds.depth {
            folder.too_deep = folder.below.len();
            folder.below.clear();
        }
        for name in &before {
            if folder.below.binary_search(name).is_err() {
                self.forget(&below(&path, name));
            }
        }
        for name in &folder.below {
            let child = below(&path, name);
            let known = self.folders.contains_key(&child)
                || (before.binary_search(name).is_ok() && self.pending.contains(&child));
            if !known {
                self.pending.push_back(child);
            }
        }
        self.entries += folder.entries;
        self.folders.insert(path, folder);
    }

    fn forget(&mut self, path: &CStr) {
        self.pending.retain(|pending| pending.as_c_str() != path);
        if let Some(folder) = self.folders.remove(path) {
            self.entries -= folder.entries;
            for name in &folder.below {
                self.forget(&below(path, name));
            }
        }
    }

    /// Looks at every file that is a secret or could become one by being rewritten, but for those in folders that were
    /// just read. Whether something is other than before.
    fn look_at_files(&mut self, read: &HashSet<CString>) -> bool {
        let mut rewritten = false;
        let now = SystemTime::now();
        for (path, folder) in &mut self.folders {
            if folder.found.is_empty() || read.contains(path) {
                continue;
            }
            for (name, what) in &mut folder.found {
                match what {
                    What::File(file) => rewritten |= file.look_again(self.root.as_fd(), path, name, now),
                    // Where a link leads is a matter of other folders as well.
                    What::Link(_) => rewritten = true,
                    _ => {}
                }
            }
        }
        rewritten
    }

    /// Makes the answers anew.
    fn settle(&mut self, read: &HashSet<CString>) -> Changed {
        self.find_other_names(read);
        let found = self.answers();
        if found == self.found {
            return Changed::Same;
        }
        self.found = found;
        Changed::Other
    }

    fn place(&self, path: &CStr) -> PathBuf {
        if path.is_empty() { self.project.clone() } else { self.project.join(os(path)) }
    }
}

fn below(folder: &CStr, name: &CStr) -> CString {
    if folder.is_empty() {
        return name.to_owned();
    }
    let mut path = folder.to_bytes().to_vec();
    path.push(b'/');
    path.extend_from_slice(name.to_bytes());
    // Neither part holds a NUL, so neither does the whole.
    CString::new(path).unwrap_or_default()
}

fn os(name: &CStr) -> &OsStr {
    OsStr::from_bytes(name.to_bytes())
}
