//! What is served: the skills of one catalogue, and of those the manifests that were looked at.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metier_catalog::{Entry, EntryId, Snapshot, State};
use metier_diagnostic::Diagnostic;
use metier_runtime::{Skills, Visible};

use super::manifest::{Manifest, Site};
use super::news::News;
use super::unfit::Unfit;

/// Who is told of skills whose files are not served.
pub(super) type Tell = dyn Fn(&Diagnostic) + Send + Sync;

/// The skills as a server shows them.
pub(super) struct Shelf {
    pub(super) skills: Skills,
    /// The one skill that this server is about, if it is about one.
    pub(super) only: Option<String>,
    pub(super) news: News,
    row: Mutex<Option<Arc<Row>>>,
    /// What was made of each folder, so that a file is read again only when it looks otherwise.
    manifests: Mutex<HashMap<PathBuf, Arc<Manifest>>>,
    /// The skills of which it was told that their files are not served.
    told: Mutex<HashSet<PathBuf>>,
    tell: Option<Box<Tell>>,
}

/// The skills of one snapshot, in the order in which they are listed.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) snapshot: Arc<Snapshot>,
    /// Those that a model may use, by name.
    pub(super) offered: Vec<(String, EntryId)>,
    /// Those that a user may start, by name.
    pub(super) startable: Vec<(String, EntryId)>,
    /// How many there are that nobody trusts yet.
    pub(super) untrusted: usize,
}

impl Row {
    fn new(snapshot: Arc<Snapshot>, only: Option<&str>) -> Self {
        let named = |(id, entry): (EntryId, &Entry)| (entry.name().to_string(), id);
        let visible = match only {
            // What this server is about may be gone for now; then it serves nothing.
            Some(name) => Visible::only(Arc::clone(&snapshot), [name]).ok(),
            None => Some(Visible::all(Arc::clone(&snapshot))),
        };
        let mut offered: Vec<_> = visible.iter().flat_map(Visible::offered).map(named).collect();
        offered.sort();
        let meant = only.and_then(|name| snapshot.resolve([name]).ok()).unwrap_or_default();
        let is_meant = |id: EntryId| only.is_none() || meant.contains(&id);
        let may_start = |(id, entry): &(EntryId, &Entry)| {
            let is_the_users = entry.state() == State::UserOnly || entry.is_offered();
            is_the_users && entry.is_user_invocable() && !entry.is_copy() && is_meant(*id)
        };
        let mut startable: Vec<_> = snapshot.entries().filter(may_start).map(named).collect();
        startable.sort();
        // Two versions of one skill have one name; the user gets the one that has it.
        startable.dedup_by(|a, b| a.0 == b.0);
        let untrusted = snapshot.entries().filter(|(_, entry)| entry.state() == State::Untrusted).count();
        Self { snapshot, offered, startable, untrusted }
    }

    /// The skill of this name, if a model may use it.
    pub(super) fn offered(&self, name: &str) -> Option<EntryId> {
        named(&self.offered, name)
    }

    /// The skill of this name, if a user may start it.
    pub(super) fn startable(&self, name: &str) -> Option<EntryId> {
        named(&self.startable, name)
    }
}

fn named(list: &[(String, EntryId)], name: &str) -> Option<EntryId> {
    let at = list.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
    list.get(at).map(|(_, id)| *id)
}

impl Shelf {
    pub(super) fn new(skills: Skills, only: Option<String>, tell: Option<Box<Tell>>) -> Self {
        Self {
            skills,
            only,
            tell,
            news: News::default(),
            row: Mutex::default(),
            manifests: Mutex::default(),
            told: Mutex::default(),
        }
    }

    /// The skills as they are known now.
    pub(super) fn row(&self) -> Arc<Row> {
        let snapshot = self.skills.snapshot();
        let mut row = lock(&self.row);
        if let Some(row) = row.as_ref().filter(|row| Arc::ptr_eq(&row.snapshot, &snapshot)) {
            return Arc::clone(row);
        }
        let next = Arc::new(Row::new(snapshot, self.only.as_deref()));
        // What is gone is forgotten, so that a server does not grow with each skill that ever was.
        let folder =
            |(_, id): &(String, EntryId)| next.snapshot.entry(*id).map(|entry| next.snapshot.folder(entry));
        let here: HashSet<PathBuf> = next.offered.iter().filter_map(folder).collect();
        lock(&self.manifests).retain(|folder, _| here.contains(folder));
        lock(&self.told).retain(|folder| here.contains(folder));
        Arc::clone(row.insert(next))
    }

    /// Looks at the files of a skill. Where they are other ones than before, everybody is told.
    pub(super) fn manifest(&self, row: &Row, id: EntryId) -> Result<(Site, Arc<Manifest>), Unfit> {
        let gone = || Unfit::Unreadable("it is gone".to_owned());
        let entry = row.snapshot.entry(id).ok_or_else(gone)?;
        let site = Site::open(&row.snapshot, entry)?;
        let before = lock(&self.manifests).get(&site.folder).cloned();
        let now = match Manifest::of(&site, before.as_deref()) {
            Ok(now) => now,
            Err(unfit) => {
                lock(&self.manifests).remove(&site.folder);
                self.tell_of(&site, &unfit);
                return Err(unfit);
            }
        };
        if let Some(before) = before.filter(|before| **before == now) {
            return Ok((site, before));
        }
        let now = Arc::new(now);
        let known = lock(&self.manifests).insert(site.folder.clone(), Arc::clone(&now));
        if known.is_some_and(|known| !known.serves_the_same_as(&now)) {
            self.news.resources();
        }
        Ok((site, now))
    }

    fn tell_of(&self, site: &Site, unfit: &Unfit) {
        if let Some(tell) = self.tell.as_ref().filter(|_| lock(&self.told).insert(site.folder.clone())) {
            tell(&unfit.diagnostic(&site.name));
        }
    }
}

impl std::fmt::Debug for Shelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shelf").field("only", &self.only).finish_non_exhaustive()
    }
}

/// Nothing that holds these locks can leave what they guard half done, so a panic elsewhere does not matter here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
