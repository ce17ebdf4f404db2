//! The served skills, and the manifests made of them.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metier_catalog::{Entry, EntryId, Snapshot, State};
use metier_diagnostic::Diagnostic;
use metier_runtime::{Skills, Visible};

use super::change_notifier::ChangeNotifier;
use super::code::UnservableError;
use super::manifest::{Manifest, SkillFolder};

/// Receives a diagnostic for each skill whose files are not served.
pub(crate) type DiagnosticSink = dyn Fn(&Diagnostic) + Send + Sync;

/// The served skills.
pub(crate) struct ServedCatalog {
    pub(crate) skills: Skills,
    /// The only served skill, if the server is restricted to one.
    pub(crate) only: Option<String>,
    pub(crate) notifier: ChangeNotifier,
    view: Mutex<Option<Arc<CatalogView>>>,
    /// The last manifest of each folder, so that unchanged files are not read again.
    manifests: Mutex<HashMap<PathBuf, Arc<Manifest>>>,
    /// Folders of skills that were reported as not served.
    reported: Mutex<HashSet<PathBuf>>,
    sink: Option<Box<DiagnosticSink>>,
}

/// The served skills of one snapshot.
#[derive(Debug)]
pub(crate) struct CatalogView {
    pub(crate) snapshot: Arc<Snapshot>,
    /// Skills that a model may use, sorted by name.
    pub(crate) offered: Vec<(String, EntryId)>,
    /// Skills that a user may start, sorted by name.
    pub(crate) startable: Vec<(String, EntryId)>,
    /// How many skills belong to an untrusted project.
    pub(crate) untrusted: usize,
}

impl CatalogView {
    fn new(snapshot: Arc<Snapshot>, only: Option<&str>) -> Self {
        let named = |(id, entry): (EntryId, &Entry)| (entry.name().to_string(), id);
        let visible = match only {
            // The only skill may be missing at the moment; then nothing is served.
            Some(name) => Visible::only(Arc::clone(&snapshot), [name]).ok(),
            None => Some(Visible::all(Arc::clone(&snapshot))),
        };
        let mut offered: Vec<_> = visible.iter().flat_map(Visible::offered).map(named).collect();
        offered.sort();
        let meant = only.and_then(|name| snapshot.resolve([name]).ok()).unwrap_or_default();
        let is_meant = |id: EntryId| only.is_none() || meant.contains(&id);
        let may_start = |(id, entry): &(EntryId, &Entry)| {
            let is_for_users = entry.state() == State::UserOnly || entry.is_offered();
            is_for_users && entry.is_user_invocable() && !entry.is_copy() && is_meant(*id)
        };
        let mut startable: Vec<_> = snapshot.entries().filter(may_start).map(named).collect();
        startable.sort();
        // Two versions of a skill share a name; the first one counts.
        startable.dedup_by(|a, b| a.0 == b.0);
        let untrusted = snapshot.entries().filter(|(_, entry)| entry.state() == State::Untrusted).count();
        Self { snapshot, offered, startable, untrusted }
    }

    /// Finds a skill that a model may use.
    pub(crate) fn offered(&self, name: &str) -> Option<EntryId> {
        named(&self.offered, name)
    }

    /// Finds a skill that a user may start.
    pub(crate) fn startable(&self, name: &str) -> Option<EntryId> {
        named(&self.startable, name)
    }
}

fn named(list: &[(String, EntryId)], name: &str) -> Option<EntryId> {
    let at = list.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
    list.get(at).map(|(_, id)| *id)
}

impl ServedCatalog {
    pub(crate) fn new(skills: Skills, only: Option<String>, sink: Option<Box<DiagnosticSink>>) -> Self {
        Self {
            skills,
            only,
            sink,
            notifier: ChangeNotifier::default(),
            view: Mutex::default(),
            manifests: Mutex::default(),
            reported: Mutex::default(),
        }
    }

    /// The view of the current snapshot.
    pub(crate) fn view(&self) -> Arc<CatalogView> {
        let snapshot = self.skills.snapshot();
        let mut view = lock(&self.view);
        if let Some(view) = view.as_ref().filter(|view| Arc::ptr_eq(&view.snapshot, &snapshot)) {
            return Arc::clone(view);
        }
        let next = Arc::new(CatalogView::new(snapshot, self.only.as_deref()));
        // Manifests of removed skills are dropped, so that memory does not grow.
        let folder =
            |(_, id): &(String, EntryId)| next.snapshot.entry(*id).map(|entry| next.snapshot.folder(entry));
        let here: HashSet<PathBuf> = next.offered.iter().filter_map(folder).collect();
        lock(&self.manifests).retain(|folder, _| here.contains(folder));
        lock(&self.reported).retain(|folder| here.contains(folder));
        Arc::clone(view.insert(next))
    }

    /// Scans the files of a skill and notifies clients if they changed.
    pub(crate) fn manifest(
        &self,
        view: &CatalogView,
        id: EntryId,
    ) -> Result<(SkillFolder, Arc<Manifest>), UnservableError> {
        let gone = || UnservableError::Unreadable("it was removed".to_owned());
        let entry = view.snapshot.entry(id).ok_or_else(gone)?;
        let folder = SkillFolder::open(&view.snapshot, entry)?;
        let before = lock(&self.manifests).get(&folder.path).cloned();
        let now = match Manifest::of(&folder, before.as_deref()) {
            Ok(now) => now,
            Err(unfit) => {
                lock(&self.manifests).remove(&folder.path);
                self.report(&folder, &unfit);
                return Err(unfit);
            }
        };
        if let Some(before) = before.filter(|before| **before == now) {
            return Ok((folder, before));
        }
        let now = Arc::new(now);
        let known = lock(&self.manifests).insert(folder.path.clone(), Arc::clone(&now));
        if known.is_some_and(|known| !known.serves_the_same_as(&now)) {
            self.notifier.resources();
        }
        Ok((folder, now))
    }

    fn report(&self, folder: &SkillFolder, unfit: &UnservableError) {
        if let Some(sink) = self.sink.as_ref().filter(|_| lock(&self.reported).insert(folder.path.clone())) {
            sink(&unfit.diagnostic(&folder.name));
        }
    }
}

/// Locks a mutex. No holder of these locks leaves its data inconsistent, so poisoning is ignored.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
