//! Which changes are not worth a question: they go to the session's layer.

mod rules;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use metier_files::protected_part;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use self::rules::IgnoreRules;
use crate::beneath::Tree;
use crate::change::{Change, ChangeKind, ChangeSet, EntryKind};
use crate::error::LayerError;
use crate::git_index::GitIndex;
use crate::layer::Layer;
use crate::path::LayerPath;

/// Folders that hold what programs can make again at any time.
const CACHE_FOLDERS: [&str; 4] = ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"];
/// How a file begins that marks a folder as a cache (<https://bford.info/cachedir/>).
const CACHE_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";
/// The largest index that is read. The largest public repositories have some 100 MB; a larger one is a change like any other.
const MAX_INDEX: u64 = 256 << 20;

/// The changes that are noise, each with its reason.
///
/// Only the project's own files decide, as they were before the call. A call that writes a `.gitignore` hides nothing by it:
/// its rules hold when a person has seen them and they are in the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noise(BTreeMap<LayerPath, NoiseReason>);

/// Why a change is noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseReason {
    /// A `.gitignore` or `.git/info/exclude` of the project covers it, and git does not track it.
    #[error("git ignores it")]
    Ignored,
    /// A program's cache or a build folder.
    #[error("it is a cache")]
    Cache,
    /// `.git/index` with the same entries: git only looked at the files again.
    #[error("git only refreshed its index")]
    IndexRefresh,
    /// An earlier call of the session has left it in the session's layer.
    #[error("it is in the session's layer")]
    Session,
}

impl Noise {
    /// Finds the noise in a call's changes.
    pub fn find(layer: &Layer, changes: &ChangeSet) -> Result<Self, LayerError> {
        let mut judge = Judge {
            upper: Tree::open_quiet(&layer.upper())?,
            rules: IgnoreRules::default(),
            builds: BTreeMap::new(),
            tracked: OnceCell::new(),
            project: Tree::open_quiet(layer.project())?,
        };
        let mut noise = BTreeMap::new();
        // Backwards, so that everything in a folder is judged before it.
        for (at, change) in changes.entries.iter().enumerate().rev() {
            let reason = judge.reason(change).or_else(|| only_noise(&changes.entries[at..], &noise));
            if let Some(reason) = reason {
                noise.insert(change.path.clone(), reason);
            }
        }
        for (at, change) in changes.entries.iter().enumerate() {
            keep_together(&changes.entries[at..], change, &mut noise);
        }
        Ok(Self(noise))
    }

    /// Why a path is noise; `None` where it is not.
    pub fn reason(&self, path: &LayerPath) -> Option<NoiseReason> {
        self.0.get(path).copied()
    }

    /// The paths, to be given to [`SessionLayer::absorb`](crate::SessionLayer::absorb).
    pub fn paths(&self) -> BTreeSet<LayerPath> {
        self.0.keys().cloned().collect()
    }

    /// Whether nothing is noise.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A new folder in which everything is noise is noise as well: git does not know folders.
fn only_noise(changes: &[Change], noise: &BTreeMap<LayerPath, NoiseReason>) -> Option<NoiseReason> {
    let (folder, following) = changes.split_first()?;
    if folder.kind != ChangeKind::Created || !folder.is_new_folder() || never_noise(&folder.path) {
        return None;
    }
    let mut below = following.iter().take_while(|change| change.path.is_below(&folder.path)).peekable();
    let first = noise.get(&below.peek()?.path).copied()?;
    below.all(|change| noise.contains_key(&change.path)).then_some(first)
}

/// A folder that is gone goes as a whole: if something in it is worth a question, all of it is part of the question.
fn keep_together(changes: &[Change], folder: &Change, noise: &mut BTreeMap<LayerPath, NoiseReason>) {
    let was_folder = folder.before.is_some_and(|before| before.is_folder());
    let is_folder = folder.entry.as_ref().is_some_and(|entry| entry.kind == EntryKind::Folder);
    if !was_folder || is_folder {
        return;
    }
    let whole = || {
        let below = changes.iter().take_while(|change| change.path.is_below(&folder.path));
        // What the session's layer holds is not the project's to delete.
        below.filter(|change| !change.in_session)
    };
    if whole().any(|change| !noise.contains_key(&change.path)) {
        for change in whole() {
            noise.remove(&change.path);
        }
    }
}

/// Whether a path is always shown: what programs run or obey, and git's own files.
fn never_noise(path: &LayerPath) -> bool {
    let is_git = |part: &std::ffi::OsStr| part.eq_ignore_ascii_case(".git");
    protected_part(path.as_path()).is_some() || path.as_path().iter().any(is_git)
}

struct Judge {
    project: Tree,
    upper: Tree,
    rules: IgnoreRules,
    /// Whether a folder called `target` is a build folder.
    builds: BTreeMap<LayerPath, bool>,
    /// The project's index, once it was asked for.
    tracked: OnceCell<Option<GitIndex>>,
}

impl Judge {
    fn reason(&mut self, change: &Change) -> Option<NoiseReason> {
        let path = &change.path;
        if path.as_path() == Path::new(".git/index") && change.kind != ChangeKind::Deleted {
            return self.is_refreshed().then_some(NoiseReason::IndexRefresh);
        }
        if never_noise(path) {
            return None;
        }
        if change.in_session {
            return Some(NoiseReason::Session);
        }
        let kinds =
            [change.before.and_then(|before| before.kind), change.entry.as_ref().map(|entry| entry.kind)];
        let is_folder = kinds[1].or(kinds[0]) == Some(EntryKind::Folder);
        if self.is_cache(path, is_folder) {
            return Some(NoiseReason::Cache);
        }
        let is_ignored = self.rules.covers(&self.project, path, is_folder);
        (is_ignored && !self.is_tracked(path)).then_some(NoiseReason::Ignored)
    }

    fn is_cache(&mut self, path: &LayerPath, is_folder: bool) -> bool {
        let extension = path.as_path().extension();
        if !is_folder && extension.is_some_and(|extension| extension == "pyc") {
            return true;
        }
        let mut folder = if is_folder { Some(path.clone()) } else { path.parent() };
        while let Some(inner) = folder {
            let name = inner.as_path().file_name().unwrap_or_default();
            let outer = inner.parent();
            let above = outer.as_ref().and_then(|outer| outer.as_path().file_name());
            if CACHE_FOLDERS.iter().any(|cache| name == *cache)
                || (name == ".cache" && above.is_some_and(|above| above == "node_modules"))
                || (name == "target" && self.is_build(&inner))
            {
                return true;
            }
            folder = outer;
        }
        false
    }

    /// Whether a folder `target` is cargo's: beside a `Cargo.toml` of the project, and marked as a cache. The call's own mark
    /// counts where the project has no such folder: nothing of a person's is in it.
    fn is_build(&mut self, folder: &LayerPath) -> bool {
        if let Some(known) = self.builds.get(folder) {
            return *known;
        }
        let beside = LayerPath::below(folder.parent().as_ref(), "Cargo.toml".as_ref());
        let tag = folder.child("CACHEDIR.TAG".as_ref());
        let is_tagged = |tree: &Tree| read(tree, &tag, 4096).is_some_and(|text| text.starts_with(CACHE_TAG));
        let is_new = matches!(self.project.stat(folder), Ok(None));
        let is_build = matches!(self.project.stat(&beside), Ok(Some(_)))
            && (is_tagged(&self.project) || (is_new && is_tagged(&self.upper)));
        self.builds.insert(folder.clone(), is_build);
        is_build
    }

    fn is_tracked(&self, path: &LayerPath) -> bool {
        let index = self.tracked.get_or_init(|| git_index(&self.project));
        index.as_ref().is_some_and(|index| index.tracks(path.as_path()))
    }

    /// Whether the call's index means the same as the project's.
    fn is_refreshed(&self) -> bool {
        git_index(&self.project).is_some_and(|before| Some(before) == git_index(&self.upper))
    }
}

/// The index of the project's repository. That of a worktree lies outside of the project and is not looked for.
fn git_index(tree: &Tree) -> Option<GitIndex> {
    GitIndex::parse(&read(tree, &LayerPath::new(".git/index".into())?, MAX_INDEX)?)
}

/// A regular file of a tree; `None` where there is none, or it is larger than the limit.
fn read(tree: &Tree, path: &LayerPath, limit: u64) -> Option<Vec<u8>> {
    // Without waiting: a script can put a pipe there.
    let file = std::fs::File::from(tree.open_entry(path, OFlags::RDONLY | OFlags::NONBLOCK).ok()?);
    let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    if metadata.len() > limit {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
