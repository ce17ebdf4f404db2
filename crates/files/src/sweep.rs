//! The walk that finds skills.
//!
//! # How it is fast
//!
//! Almost every folder below a root is a skill, so the first question to a folder `x` is not "what is in you" but
//! "open `x/SKILL.md`": one call, relative to the descriptor of the folder above. Only where that fails is the folder
//! listed. The first bytes are read into one buffer per worker and handed to the visitor there and then, so that
//! parsing needs no second pass. Work is handed on wherever a worker has nothing to do, from any depth: see [`queue`].
//!
//! # How it is the same every time
//!
//! Workers race, results do not. What is found depends on the tree alone, never on who was first: links to folders of
//! skills are collected and followed in rounds, in order of their paths ([`round`]); equal real folders are told apart
//! after the walk ([`merge`]); and where there are more entries than the bound, so that the race would decide which of
//! them count, the walk is made again by one worker in order.

mod candidate;
mod folder;
mod follow;
mod frame;
mod list;
mod merge;
mod order;
mod probe;
mod problem;
mod queue;
mod root;
mod round;
#[cfg(test)]
mod tests;
mod worker;

use std::path::PathBuf;

pub use self::candidate::Candidate;
use self::order::Order;
pub use self::problem::Problem;
use crate::{Extent, Ignore};

/// A folder to search.
#[derive(Clone, Debug)]
pub struct SweepRoot {
    /// Where it is. A missing folder, an empty path or a file in its place is nothing, and no problem.
    pub path: PathBuf,
    /// How deep skills may lie; one directly in the root is at depth 1.
    pub depth: u16,
    /// Folders that are not looked at.
    pub ignore: Option<Ignore>,
    /// Where links may lead.
    pub links: LinkPolicy,
    /// Whether a skill's own folder is searched for more skills.
    pub nested: Nested,
}

impl SweepRoot {
    /// Deeper than people nest; a tree that is deeper is not a tree of skills.
    pub const DEPTH: u16 = 10;

    /// A root with the usual depth, nothing ignored, skills' own folders not searched.
    pub fn new(path: impl Into<PathBuf>, links: LinkPolicy) -> Self {
        Self { path: path.into(), depth: Self::DEPTH, ignore: None, links, nested: Nested::Skip }
    }
}

/// Where links below a root may lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkPolicy {
    /// Anywhere: the root is trusted.
    Anywhere,
    /// Into the root itself and into these folders, which have to be real paths (see [`crate::real_path`]).
    ///
    /// When links lie on the way to the root, the root's own real path has to be inside one of them too: a stranger's
    /// repository can make its skills folder a link to anywhere.
    Inside(Vec<PathBuf>),
}

/// Whether a skill's own folder is searched for more skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nested {
    /// It is not.
    Skip,
    /// It is, so that skills inside skills are found.
    Search,
}

/// How much one sweep does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Entries of folders that are looked at, over all roots. A root that is a home directory by mistake must not be
    /// walked to its end.
    pub entries: usize,
    /// Bytes of each document that are read at first. The frontmatter of 99.8 % of public skills fits into the default.
    pub head: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { entries: 200_000, head: 2048 }
    }
}

/// What a sweep brought home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep<T> {
    /// The skills, by root and then by path, part by part and byte by byte.
    pub found: Vec<Found<T>>,
    /// What was not found because it is somewhere else in this sweep already, in the same order.
    pub repeats: Vec<Repeat>,
    /// What went wrong, in the same order.
    pub problems: Vec<Problem>,
    /// The folders that were listed because they hold skills or could, in the same order. Whoever wants to know of
    /// skills that come later has to watch these.
    pub folders: Vec<Place>,
}

/// One skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<T> {
    /// Which of the roots it is in.
    pub root: usize,
    /// Its folder, relative to the root; empty when the root is itself the skill.
    pub folder: PathBuf,
    /// The folder's real path, when it was reached through a link below the root.
    pub real: Option<PathBuf>,
    /// What the visitor made of it.
    pub value: T,
}

/// A folder in a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Which of the roots it is in.
    pub root: usize,
    /// The folder, relative to the root.
    pub folder: PathBuf,
}

/// A folder that is the same real folder as another one: a skill, or a link to a whole folder of skills.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Repeat {
    /// The one that was left out.
    pub place: Place,
    /// The one that stands for both: the first by root and path.
    pub same_as: Place,
}

/// Searches all roots and calls `visit` with every skill, on several threads at once.
///
/// `visit` gives the value that goes with the skill. It is called once for each skill as a rule, and again where the walk
/// has to be made again in order, so it should have no effect beyond its value.
///
/// ```
/// # use metier_testkit::Workspace;
/// use metier_files::{Bounds, LinkPolicy, SweepRoot, sweep};
///
/// # let workspace = Workspace::new().skill("skills/greet", "Greets.").skill("skills/team/plan", "Plans.");
/// # let folder = workspace.join("skills");
/// let roots = [SweepRoot::new(folder, LinkPolicy::Anywhere)];
/// let sweep = sweep(&roots, &Bounds::default(), |candidate| candidate.head.len());
///
/// let folders: Vec<_> = sweep.found.iter().map(|found| found.folder.to_str()).collect();
/// assert_eq!(folders, [Some("greet"), Some("team/plan")]);
/// assert!(sweep.problems.is_empty());
/// ```
pub fn sweep<T: Send>(
    roots: &[SweepRoot],
    bounds: &Bounds,
    visit: impl Fn(Candidate<'_>) -> T + Sync,
) -> Sweep<T> {
    sweep_in(roots, bounds, None, visit)
}

/// Searches parts of the roots: the folders at these places and what is below them, as [`sweep()`] would on its way
/// through the roots.
///
/// A place that no walk without links leads to is left out, and so is one that is deeper than its root allows. No place
/// may lie in another one. Links are told apart within these places only.
pub fn sweep_places<T: Send>(
    roots: &[SweepRoot],
    bounds: &Bounds,
    places: &[Place],
    visit: impl Fn(Candidate<'_>) -> T + Sync,
) -> Sweep<T> {
    sweep_in(roots, bounds, Some(places), visit)
}

fn sweep_in<T: Send>(
    roots: &[SweepRoot],
    bounds: &Bounds,
    places: Option<&[Place]>,
    visit: impl Fn(Candidate<'_>) -> T + Sync,
) -> Sweep<T> {
    let (sweep, extent) = round::sweep_in(Order::Any, roots, bounds, places, &visit);
    match extent {
        Extent::Whole => sweep,
        // Which entries came before the bound was a matter of luck, so that result is thrown away.
        Extent::Truncated => round::sweep_in(Order::Sorted, roots, bounds, places, &visit).0,
    }
}
