//! All skills at one moment, never changed afterwards.

use crate::code;
use crate::disabled::Disabled;
use crate::document::SkillFile;
use crate::entry::{Entry, EntryId, Relation, State};
use crate::identity::{self, Circumstances, Names};
use crate::layout::Layout;
use crate::place::{self, below};
use crate::root::{Root, RootTrust};
use crate::visit::{Visited, visit};
use metier_diagnostic::Diagnostic;
use metier_files::{
    Bounds, Error, Ignore, LinkPolicy, Nested, Problem, Repeat, SkillDir, Sweep, SweepRoot, sweep,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a listing shows beyond what may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Include {
    /// Skills' own folders are searched only where a root's configuration says so.
    #[default]
    Usual,
    /// Skills inside skills are found everywhere and marked as such.
    Nested,
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
        let mut diagnostics = layout.diagnostics.clone();
        let plan = Plan::new(&layout, include, &mut diagnostics);
        let swept = sweep(&plan.roots, &plan.bounds, |candidate| visit(&candidate, &plan.roots));
        let Sweep { found, repeats, problems } = swept;

        // The sweep had the trusted roots first; from here on the order is that of precedence.
        let mut by_root: Vec<Vec<_>> = layout.roots.iter().map(|_| Vec::new()).collect();
        for one in found {
            if let Some(skills) = plan.order.get(one.root).and_then(|root| by_root.get_mut(*root)) {
                skills.push(one);
            }
        }
        let mut entries = Vec::with_capacity(by_root.iter().map(Vec::len).sum());
        let mut failures = Vec::new();
        for (root, skills) in by_root.into_iter().enumerate() {
            for one in skills {
                let folder = one.folder.into_boxed_path();
                match one.value {
                    Visited::Refused(diagnostics) => failures.push(Failure { root, folder, diagnostics }),
                    Visited::Loaded(card) => entries.push(Entry {
                        root: u16::try_from(root).unwrap_or(u16::MAX),
                        state: State::Ready,
                        relation: Relation::Holder,
                        next: None,
                        folder,
                        card,
                    }),
                }
            }
        }
        let in_precedence = |place: metier_files::Place| metier_files::Place {
            root: plan.order.get(place.root).copied().unwrap_or_default(),
            ..place
        };
        let repeats = repeats.into_iter().map(|repeat| Repeat {
            place: in_precedence(repeat.place),
            same_as: in_precedence(repeat.same_as),
        });
        let repeats = repeats.collect();
        sort_problems(problems, &plan, &layout, &mut failures, &mut diagnostics);

        let disabled: Vec<Disabled> =
            layout.roots.iter().map(|root| disabled(root, &mut diagnostics)).collect();
        let circumstances =
            Circumstances { layout: &layout, disabled: &disabled, failures: &failures, include };
        let names = identity::settle(&mut entries, &circumstances);
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

    /// The folder of an entry, absolute.
    pub fn folder(&self, entry: &Entry) -> PathBuf {
        place::folder(&self.layout, entry)
    }

    /// The `SKILL.md` of an entry, absolute.
    pub fn document_path(&self, entry: &Entry) -> PathBuf {
        place::document_path(&self.layout, entry)
    }

    /// Opens the folder of an entry, the real one where links lead to it.
    pub fn open(&self, entry: &Entry) -> Result<SkillDir, Error> {
        place::open(&self.layout, entry)
    }

    /// Reads the file of an entry whole.
    pub fn read(&self, entry: &Entry) -> Result<SkillFile, Error> {
        let name = place::folder_name(&self.layout, entry);
        let mut file = match entry.card.links.as_ref().and_then(|links| links.document.as_deref()) {
            Some(target) => SkillFile::read_at(target, name.as_deref()),
            None => SkillFile::read(&self.open(entry)?, name.as_deref()),
        }?;
        let path: Arc<Path> = self.document_path(entry).into();
        for diagnostic in &mut file.diagnostics {
            diagnostic.path = Some(Arc::clone(&path));
        }
        Ok(file)
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

fn disabled(root: &Root, diagnostics: &mut Vec<Diagnostic>) -> Disabled {
    if root.real.is_some() { Disabled::of(&root.path, diagnostics) } else { Disabled::default() }
}

/// What the sweep is told.
struct Plan {
    roots: Vec<SweepRoot>,
    /// For each of them, its place in the layout.
    order: Vec<usize>,
    bounds: Bounds,
}

impl Plan {
    fn new(layout: &Layout, include: Include, diagnostics: &mut Vec<Diagnostic>) -> Self {
        // Of two paths to one real folder the sweep keeps the one in the earlier root. A project that links to one of
        // the user's skills must not make it the project's, so roots that are not trusted come last.
        let mut order: Vec<usize> = (0..layout.roots.len()).collect();
        order.sort_by_key(|at| layout.roots[*at].trust == RootTrust::Untrusted);
        let reachable = reachable(layout);
        let roots = order.iter().map(|at| {
            let root = &layout.roots[*at];
            let links = match root.trust {
                RootTrust::Trusted => LinkPolicy::Anywhere,
                RootTrust::Untrusted => LinkPolicy::Inside(reachable.clone()),
            };
            let mut sweep = SweepRoot::new(&root.path, links);
            let depth = root.depth.or(layout.settings.discovery.depth);
            sweep.depth = depth.map_or(sweep.depth, std::num::NonZeroU16::get);
            sweep.ignore = ignore(root, diagnostics);
            if root.nested || include == Include::Nested {
                sweep.nested = Nested::Search;
            }
            sweep
        });
        let roots = roots.collect();
        let mut bounds = Bounds::default();
        if let Some(entries) = layout.settings.discovery.entries {
            bounds.entries = entries.get() as usize;
        }
        Self { roots, order, bounds }
    }
}

/// Where the links of an untrusted project may lead: into every root, but its own only where they lie in the project.
/// A project that makes `.claude/skills` a link to the user's documents has not thereby made them a root.
fn reachable(layout: &Layout) -> Vec<PathBuf> {
    let in_project =
        |path: &Path| layout.project.as_ref().is_some_and(|project| path.starts_with(&project.folder));
    let roots = layout.roots.iter().filter_map(|root| Some((root.trust, root.real.as_ref()?)));
    roots
        .filter(|(trust, real)| *trust == RootTrust::Trusted || in_project(real))
        .map(|(_, real)| real.clone())
        .collect()
}

fn ignore(root: &Root, diagnostics: &mut Vec<Diagnostic>) -> Option<Ignore> {
    let mut valid = Vec::with_capacity(root.ignore.len());
    for pattern in &root.ignore {
        match Ignore::new([pattern]) {
            Ok(_) => valid.push(pattern),
            Err(error) => diagnostics.push(Diagnostic::new(&code::IGNORE_INVALID, error.to_string())),
        }
    }
    if valid.is_empty() { None } else { Ignore::new(valid).ok() }
}

/// A document that cannot be read is a failed skill; everything else is said once, beside the list.
fn sort_problems(
    problems: Vec<Problem>,
    plan: &Plan,
    layout: &Layout,
    failures: &mut Vec<Failure>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for problem in problems {
        let path: Option<Arc<Path>> = problem.path().map(Into::into);
        let mut diagnostic = Diagnostic::new(problem_code(&problem), problem.to_string());
        diagnostic.path.clone_from(&path);
        diagnostic.help = help(&problem).map(str::to_owned);
        let root = problem.root().and_then(|root| plan.order.get(root).copied());
        match (&problem, root, path) {
            (Problem::UnreadableFile { .. } | Problem::NotAFile { .. }, Some(root), Some(path)) => {
                let folder = path.parent().unwrap_or(&path);
                let folder = folder.strip_prefix(&layout.roots[root].path).unwrap_or(folder);
                failures.push(Failure { root, folder: folder.into(), diagnostics: vec![diagnostic] });
            }
            _ => diagnostics.push(diagnostic),
        }
    }
    failures.sort_by(|a, b| (a.root, &a.folder).cmp(&(b.root, &b.folder)));
}

fn problem_code(problem: &Problem) -> &'static metier_diagnostic::Code {
    match problem {
        Problem::NotAFile { .. } => &code::FILE_NOT_REGULAR,
        Problem::LinkOutside { .. } => &code::LINK_OUTSIDE,
        Problem::LinkBroken { .. } | Problem::LinkLoop { .. } => &code::LINK_BROKEN,
        Problem::DepthBound { .. } => &code::BOUND_DEPTH,
        Problem::EntryBound { .. } => &code::BOUND_ENTRIES,
        _ => &code::FOLDER_UNREADABLE,
    }
}

fn help(problem: &Problem) -> Option<&'static str> {
    match problem {
        Problem::LinkOutside { .. } => {
            Some("trust the project with `metier trust`, or move the folder into a root")
        }
        Problem::DepthBound { .. } => Some("raise `depth` on the root or in `[discovery]`"),
        Problem::EntryBound { .. } => Some("raise `entries` in `[discovery]`, or name narrower roots"),
        _ => None,
    }
}
