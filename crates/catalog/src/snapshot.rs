//! All skills at one moment, never changed afterwards.

mod harvest;
mod plan;
mod problem;

use crate::disabled::{DisabledError, Switch, disabled_in, switch};
use crate::document::SkillFile;
use crate::entry::{Entry, EntryId, Relation};
use crate::identity::{self, Circumstances, NameHasher, Names, names_of};
use crate::layout::Layout;
use crate::origin::Class;
use crate::place::{self, below};
use crate::remote::{self, NotBrought, Wanted};
use crate::root::{Root, RootTrust};
use crate::trust::link_entry;
use crate::visit::{Kept, Visited};
use metier_diagnostic::Diagnostic;
use metier_files::{DocumentName, Error, Found, Repeat, SkillDir, Sweep};
use problem::sort_problems;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use harvest::Harvest;
pub(crate) use plan::Plan;
pub(crate) use problem::diagnostic_of;

/// What a listing shows beyond what may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Include {
    /// Skills' own folders are searched only where a root's configuration says so.
    #[default]
    Usual,
    /// Skills inside skills are found everywhere and marked as such.
    Nested,
}

/// Whether each document is asked what it looks like, by which a search index knows it again. It is one more question to the
/// system for each skill, and a listing has no use for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamps {
    Taken,
    Left,
}

/// A file that should be a skill and is none.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its root's place in [`Layout::roots`].
    pub root: usize,
    /// Its folder, relative to the root.
    pub folder: Box<Path>,
    /// Why, and whatever else there is to say.
    pub diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// The reason: the first error.
    pub fn reason(&self) -> Option<&Diagnostic> {
        let is_error = |found: &&Diagnostic| found.severity() == metier_diagnostic::Severity::Error;
        self.diagnostics.iter().find(is_error).or(self.diagnostics.first())
    }
}

/// Why a skill's file cannot be read for use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotRead {
    /// It is not there, or cannot be opened.
    #[error(transparent)]
    File(#[from] Error),
    /// It is a server's, and is not what its server listed.
    #[error(transparent)]
    Remote(#[from] NotBrought),
}

/// All skills of a layout at one moment.
///
/// A run keeps the snapshot it started with, so that nothing it sees changes under it. Entries are in the order of their
/// roots, highest first, and by path within each.
#[derive(Debug)]
pub struct Snapshot {
    layout: Arc<Layout>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) failures: Vec<Failure>,
    diagnostics: Vec<Diagnostic>,
    repeats: Vec<Repeat>,
    pub(crate) names: Names,
}

impl Snapshot {
    /// Finds and parses every skill of the layout's roots. Never fails: what could not be read is a failure or a
    /// diagnostic.
    pub fn load(layout: Arc<Layout>, include: Include) -> Self {
        Self::sweep(layout, include, Stamps::Left)
    }

    /// The same for whoever searches among them: see [`Finder`](crate::Finder), which knows by it what it has read before.
    pub fn load_for_search(layout: Arc<Layout>) -> Self {
        Self::sweep(layout, Include::Usual, Stamps::Taken)
    }

    fn sweep(layout: Arc<Layout>, include: Include, stamps: Stamps) -> Self {
        let harvest = Harvest::gather(&layout, include, stamps, NameHasher::default());
        Self::settle(layout, include, harvest)
    }

    /// Settles names, states and relations of what a sweep gave.
    pub(crate) fn settle(layout: Arc<Layout>, include: Include, harvest: Harvest) -> Self {
        let Harvest { plan, hasher, sweep: Sweep { mut found, repeats, problems, .. } } = harvest;
        let mut diagnostics = layout.diagnostics.clone();
        diagnostics.extend_from_slice(&plan.diagnostics);

        // The sweep had a project's roots last; from here on the order is that of precedence. Within a root it stays.
        let place = |one: &Found<Visited>| plan.order[one.root];
        if !found.is_sorted_by_key(place) {
            found.sort_by_key(place);
        }
        let mut failures = Vec::new();
        // An entry is smaller than what it is made from, so the entries take the place of what was found, in the same
        // memory: a megabyte less to ask the system for.
        let entries = found.into_iter().filter_map(|one| {
            let (root, folder) = (plan.order[one.root], one.folder.into_boxed_path());
            match one.value {
                Visited::Refused(diagnostics) => {
                    failures.push(Failure { root, folder, diagnostics });
                    None
                }
                Visited::Loaded(loaded) => Some(Entry::new(root, folder, loaded)),
                Visited::Kept(kept) => {
                    let Kept { mut loaded, why } = *kept;
                    Arc::make_mut(&mut loaded.card).diagnostics.push(why);
                    Some(Entry::new(root, folder, loaded))
                }
            }
        });
        let mut entries: Vec<Entry> = entries.collect();
        // Servers are the lowest roots, so their skills come last.
        entries.extend(remote::entries(&layout, &hasher, &mut failures));
        let in_precedence =
            |place: metier_files::Place| metier_files::Place { root: plan.order[place.root], ..place };
        let repeats = repeats.into_iter().map(|repeat| Repeat {
            place: in_precedence(repeat.place),
            same_as: in_precedence(repeat.same_as),
        });
        let repeats = repeats.collect();
        sort_problems(problems, &plan, &layout, &mut failures, &mut diagnostics);

        let disabled = layout.roots.iter().map(|root| match root.real {
            Some(_) => disabled_in(&root.path, &mut diagnostics),
            None => BTreeSet::new(),
        });
        let disabled: Vec<_> = disabled.collect();
        let circumstances =
            Circumstances { layout: &layout, disabled: &disabled, failures: &failures, include };
        let names = identity::settle(&mut entries, &circumstances, hasher);
        Self { layout, entries, failures, diagnostics, repeats, names }
    }

    /// What it was made from.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Every skill that parsed, whatever its state.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (EntryId, &Entry)> {
        self.entries.iter().enumerate().map(|(at, entry)| (EntryId::new(at), entry))
    }

    /// One of them.
    pub fn entry(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(id.at())
    }

    /// How many parsed, whatever their state.
    pub fn loaded(&self) -> usize {
        self.entries.len()
    }

    /// The files that should be skills and are none.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// What else there is to say: about places, configuration, links, bounds.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The root of an entry.
    pub fn root(&self, entry: &Entry) -> &Root {
        // Every entry was made from one of the roots.
        &self.layout.roots[entry.root as usize]
    }

    /// The folder that tells skills of one origin and name apart: the project's of a project's skill, the root's of one that
    /// the command line names. Other origins have one such skill.
    pub fn owning_folder(&self, entry: &Entry) -> Option<&Path> {
        let root = self.root(entry);
        match (root.origin.class, &self.layout.project) {
            (Class::Project, Some(project)) => Some(&project.folder),
            (Class::Project | Class::Cli, _) => Some(root.real.as_deref().unwrap_or(&root.path)),
            _ => None,
        }
    }

    /// The folder of an entry, absolute.
    pub fn folder(&self, entry: &Entry) -> PathBuf {
        place::folder(&self.layout, entry)
    }

    /// The `SKILL.md` of an entry, absolute.
    pub fn document_path(&self, entry: &Entry) -> PathBuf {
        place::document_path(&self.layout, entry)
    }

    /// The `SKILL.md` of an entry in three parts: the root, the folder below it (empty where it is the root itself), and
    /// the name. For a listing of thousands, which would build each path only to write it out.
    pub fn document_parts<'a>(&'a self, entry: &'a Entry) -> [&'a Path; 3] {
        [&self.root(entry).path, &entry.folder, Path::new(entry.card.document_name.as_str())]
    }

    /// Opens the folder of an entry, the real one where links lead to it.
    pub fn open(&self, entry: &Entry) -> Result<SkillDir, Error> {
        place::open(&self.layout, entry)
    }

    /// Reads the file of an entry whole. Of a server's skill this is what the server listed, without a body: nothing is fetched
    /// to be shown or searched.
    pub fn read(&self, entry: &Entry) -> Result<SkillFile, Error> {
        let name = place::folder_name(&self.layout, entry);
        if let Some(skill) = entry.remote() {
            return Ok(SkillFile::from_bytes(
                DocumentName::CANONICAL,
                skill.text.as_bytes(),
                name.as_deref(),
            ));
        }
        self.read_whole(entry, name.as_deref())
    }

    /// Reads the file of an entry whole because it is used. A server's file is fetched, or held against its list again, before
    /// it is read.
    pub fn read_for_use(&self, entry: &Entry) -> Result<SkillFile, NotRead> {
        self.bring(entry, Wanted::Document)?;
        Ok(self.read_whole(entry, place::folder_name(&self.layout, entry).as_deref())?.for_use())
    }

    fn read_whole(&self, entry: &Entry, name: Option<&str>) -> Result<SkillFile, Error> {
        let mut file = match entry.card.document_target() {
            Some(target) => SkillFile::read_at(target, name),
            None => SkillFile::read(&self.open(entry)?, name),
        }?;
        let path: Arc<Path> = self.document_path(entry).into();
        for diagnostic in &mut file.diagnostics {
            diagnostic.path = Some(Arc::clone(&path));
        }
        Ok(file)
    }

    /// Enables or disables a skill in the `.disabled.json` of its root, and says whether that changed anything. The
    /// snapshot stays as it is.
    pub fn switch(&self, entry: &Entry, to: Switch) -> Result<bool, DisabledError> {
        let root = &self.root(entry).path;
        let names = names_of(entry, root);
        switch(root, &names.iter().map(String::as_str).collect::<Vec<_>>(), to)
    }

    /// The other folders in which the same skill was found: equal copies, and links to it.
    pub fn other_folders(&self, id: EntryId) -> Vec<PathBuf> {
        let mut others: Vec<PathBuf> = self.copies(id).map(|copy| self.folder(copy)).collect();
        if let Some(entry) = self.entry(id) {
            others.extend(self.linked(entry).map(|(root, folder)| below(&root.path, &folder)));
        }
        others
    }

    /// The equal copies of an entry.
    pub(crate) fn copies(&self, id: EntryId) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.relation == Relation::CopyOf(id))
    }

    /// The places from which links lead to an entry.
    pub(crate) fn linked<'a>(&'a self, entry: &'a Entry) -> impl Iterator<Item = (&'a Root, PathBuf)> {
        self.repeats.iter().filter_map(move |repeat| {
            if repeat.same_as.root != entry.root as usize {
                return None;
            }
            // A link may lead to the skill or to a folder of skills above it.
            let rest = entry.folder.strip_prefix(&repeat.same_as.folder).ok()?;
            let root = self.layout.roots.get(repeat.place.root)?;
            Some((root, below(&repeat.place.folder, rest)))
        })
    }
}

impl Snapshot {
    /// The roots from which links lead to an entry, as far as the user trusts the links.
    pub(crate) fn trusted_links<'a>(&'a self, entry: &'a Entry) -> impl Iterator<Item = &'a Root> {
        let is_trusted = |root: &Root, place: &Path| match root.origin.class {
            Class::Project => self.layout.trust.allows(&link_entry(&self.layout, place, &self.folder(entry))),
            _ => true,
        };
        let links = self.linked(entry).filter(|(root, _)| root.trust == RootTrust::Trusted);
        links.filter(move |(root, folder)| is_trusted(root, &below(&root.path, folder))).map(|(root, _)| root)
    }
}
