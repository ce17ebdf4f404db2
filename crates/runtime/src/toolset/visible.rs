//! The skills that a session sees, and what is said of those it does not.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use metier_catalog::{
    Entry, EntryId, Lookup, MAX_NAME_ENUM, Reference, RootTrust, Snapshot, State, Unresolved, Visibility,
};
use metier_exec::SCRIPTS;
use metier_files::{ListBounds, RelativePath};

use super::refusal::Refusal;
use crate::tool::cut;

/// How many names an answer lists: enough to choose from, few enough to read.
pub(crate) const MAX_NAMES: usize = 20;

/// The skills of a session: a snapshot, and the part of it that an agent's own list names.
#[derive(Clone, Debug)]
pub struct Visible {
    snapshot: Arc<Snapshot>,
    /// What the agent's list names; everything without one.
    only: Option<HashSet<EntryId>>,
    /// The skills that the model may use, by precedence, then by name.
    offered: Vec<EntryId>,
    /// Those that are offered once the work touches one of their files.
    waiting: Vec<EntryId>,
    names: HashMap<String, EntryId>,
}

/// For whom a skill is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The model wants to activate it.
    Activate,
    /// The model wants to use something of it: what is active already may be the user's own.
    Use,
}

impl Visible {
    /// Every skill that the model may use.
    pub fn all(snapshot: Arc<Snapshot>) -> Self {
        Self::new(snapshot, None)
    }

    /// The skills that an agent's list names, or everything that is wrong with the list.
    pub fn only<'a>(
        snapshot: Arc<Snapshot>,
        list: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, Vec<Unresolved>> {
        let only = snapshot.resolve(list)?.into_iter().collect();
        Ok(Self::new(snapshot, Some(only)))
    }

    /// The skills of an agent's list that are there, for a session that goes on: what is gone is told by a note.
    pub(crate) fn among<'a>(snapshot: Arc<Snapshot>, list: impl IntoIterator<Item = &'a str>) -> Self {
        let found = list.into_iter().filter_map(|name| snapshot.resolve([name]).ok()).flatten();
        let only = found.collect();
        Self::new(snapshot, Some(only))
    }

    /// Whether a skill is among them, whoever may use it.
    pub(crate) fn has(&self, id: EntryId) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&id))
    }

    fn new(snapshot: Arc<Snapshot>, only: Option<HashSet<EntryId>>) -> Self {
        let is_listed = |id: &EntryId| only.as_ref().is_none_or(|only| only.contains(id));
        let offered: Vec<(EntryId, &Entry)> =
            snapshot.offered().into_iter().filter(|(id, _)| is_listed(id)).collect();
        let names = offered.iter().map(|(id, entry)| (entry.call_name().to_owned(), *id)).collect();
        let offered = offered.into_iter().map(|(id, _)| id).collect();
        let waiting = snapshot.waiting().into_iter().map(|(id, _)| id).filter(is_listed).collect();
        Self { snapshot, only, offered, waiting, names }
    }

    /// The work touches a file, seen from the project's folder: skills that wait for it are offered from now on.
    pub(crate) fn touch(&mut self, file: &Path) -> Vec<EntryId> {
        let snapshot = Arc::clone(&self.snapshot);
        let is_for = |id: &EntryId| snapshot.entry(*id).is_some_and(|entry| entry.is_for(file));
        let (came, waiting): (Vec<EntryId>, Vec<EntryId>) =
            std::mem::take(&mut self.waiting).into_iter().partition(is_for);
        self.waiting = waiting;
        for (id, entry) in came.iter().filter_map(|id| Some((*id, snapshot.entry(*id)?))) {
            self.offered.push(id);
            self.names.insert(entry.call_name().to_owned(), id);
        }
        came
    }

    /// The snapshot.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The skills that the model may use, in the order of the catalogue.
    pub fn offered(&self) -> impl Iterator<Item = (EntryId, &Entry)> {
        self.offered.iter().filter_map(|id| Some((*id, self.snapshot.entry(*id)?)))
    }

    /// Whether the model may use the skill of this name.
    pub(crate) fn offers(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// How many skills the model may use.
    pub(crate) fn count(&self) -> usize {
        self.offered.len()
    }

    /// The names for a schema, while they are few.
    pub(crate) fn name_enum(&self) -> Option<Vec<&str>> {
        (self.offered.len() <= MAX_NAME_ENUM)
            .then(|| self.offered().map(|(_, entry)| entry.call_name()).collect())
    }

    /// Whether there is anything that a conversation can be about: what the model may use, or the user may start.
    pub(crate) fn is_empty(&self) -> bool {
        !self.offers_any() && self.startable().next().is_none()
    }

    /// Whether the model may use any, now or once the work touches its files.
    pub(crate) fn offers_any(&self) -> bool {
        !self.offered.is_empty() || !self.waiting.is_empty()
    }

    /// Whether any skill has a script. It is looked at until one has.
    pub(crate) fn have_scripts(&self) -> bool {
        let Ok(scripts) = RelativePath::parse(SCRIPTS) else { return false };
        let has_scripts = |entry: &Entry| {
            if let Some(skill) = entry.remote() {
                return skill.files.iter().any(|file| file.path.as_path().starts_with(SCRIPTS));
            }
            let folder = self.snapshot.open(entry).and_then(|folder| folder.folder(&scripts));
            folder
                .and_then(|folder| folder.list(ListBounds::default()))
                .is_ok_and(|list| !list.files.is_empty())
        };
        let waiting = self.waiting.iter().filter_map(|id| self.snapshot.entry(*id));
        self.offered().map(|(_, entry)| entry).chain(waiting).chain(self.startable()).any(has_scripts)
    }

    /// The skills that only the user may start. Once one is active, the model reads its files and runs its scripts.
    fn startable(&self) -> impl Iterator<Item = &Entry> {
        let is_startable = |(id, entry): &(EntryId, &Entry)| {
            entry.state() == State::UserOnly && self.only.as_ref().is_none_or(|only| only.contains(id))
        };
        self.snapshot.entries().filter(is_startable).map(|(_, entry)| entry)
    }

    /// Finds a skill by what a model calls it.
    ///
    /// A name, `origin:name` or `name@requirement`. Of a skill that the agent's list leaves out nothing is said but that:
    /// not how it stands, nor why.
    pub(crate) fn find(&self, name: &str, purpose: Purpose, active: &[EntryId]) -> Result<EntryId, Refusal> {
        if let Some(id) = self.names.get(name) {
            return Ok(*id);
        }
        let asked = cut(name);
        let reference: Reference = name.parse().map_err(|error: metier_catalog::ReferenceError| {
            Refusal::NoReference { why: error.to_string() }
        })?;
        let lookup = self.snapshot.find(&reference);
        if let (Some(only), Lookup::Found(id, _) | Lookup::Unusable(id, _)) = (&self.only, &lookup)
            && !only.contains(id)
            && !(purpose == Purpose::Use && active.contains(id))
        {
            return Err(Refusal::NotListed { name: asked, available: self.available() });
        }
        match lookup {
            Lookup::Found(id, entry) if self.is_open(id, entry, purpose, active) => Ok(id),
            Lookup::Found(_, entry) => {
                let is_invocable = entry.is_user_invocable();
                Err(Refusal::UserOnly { name: entry.name().to_string(), is_invocable })
            }
            Lookup::Unusable(_, entry) => {
                Err(Refusal::State { name: entry.call_name().to_owned(), state: entry.state() })
            }
            Lookup::NoVersion(versions) if self.only.is_none() => {
                Err(Refusal::NoVersion { name: asked, versions })
            }
            Lookup::Ambiguous(entries) if self.only.is_none() => {
                let names = entries.iter().map(|(_, entry)| entry.name().to_string());
                let names = names.filter(|name| self.offers(name)).collect();
                Err(Refusal::Ambiguous { name: asked, names })
            }
            Lookup::Failed(failure) if self.only.is_none() => {
                // What is wrong with a file is told in the file's own words, and a stranger's must not reach a model.
                let root = self.snapshot.layout().roots.get(failure.root);
                if root.is_none_or(|root| root.trust == RootTrust::Untrusted) {
                    return Err(Refusal::State { name: asked, state: State::Untrusted });
                }
                let why = failure.reason().map(|reason| cut(&reason.message)).unwrap_or_default();
                Err(Refusal::Broken { name: asked, why })
            }
            // The nearest of all skills; those that the model may not know of are left out.
            Lookup::NotFound(near) => {
                let nearest = near.into_iter().filter(|name| self.names.contains_key(name)).collect();
                Err(Refusal::Unknown { name: asked, nearest, available: self.available() })
            }
            _ => Err(Refusal::NotListed { name: asked, available: self.available() }),
        }
    }

    /// Whether the model may have a skill that can be used at all.
    fn is_open(&self, id: EntryId, entry: &Entry, purpose: Purpose, active: &[EntryId]) -> bool {
        if purpose == Purpose::Use && active.contains(&id) {
            return true;
        }
        match entry.state() {
            State::Ready | State::NameOnly => true,
            // The state says that another has the name; what the skill and the configuration say holds all the same.
            State::Shadowed => {
                let origin = &self.snapshot.root(entry).origin;
                let says = self.snapshot.layout().settings.visibility(entry.name().as_str(), origin);
                let is_open =
                    says.is_none_or(|(says, _)| matches!(says, Visibility::On | Visibility::NameOnly));
                entry.user_only().is_none() && is_open
            }
            _ => false,
        }
    }

    /// Names to choose from, and how many more there are.
    fn available(&self) -> Available {
        let names = self.offered().take(MAX_NAMES).map(|(_, entry)| entry.call_name().to_owned()).collect();
        Available { names, more: self.offered.len().saturating_sub(MAX_NAMES) }
    }
}

/// Skills to choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Available {
    /// Some of them, in the order of the catalogue.
    pub names: Vec<String>,
    /// How many more there are.
    pub more: usize,
}
