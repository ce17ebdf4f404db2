//! Makes the environment that a skill's scripts want: packages for Python, packages for Node.
//!
//! A [`Recipe`] is what the skill's own files ask for. [`prepare`] asks the gate about the hosts it takes, fetches, writes a
//! lock with exact versions and digests, and installs from that, all of it contained and below `env/` in the skill's data
//! folder. Once made, nothing is fetched again: a second time is answered from what is there. [`Standing`] is how a script
//! is started with it.
//!
//! The data folder is written by the skill's own scripts, too, so nothing here writes to it from outside: every change is
//! made by a process that sees nothing else, and what is read is read without following a link out of it.

mod lock;
mod node;
mod package_json;
mod python;
mod recipe;
mod registry;
mod requirement;
mod script_block;
mod shelf;
mod standing;
mod workshop;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use metier_files::{FolderLock, SkillDir};
use metier_policy::{Action, Decision, Digest, Host, Need};
use metier_sandbox::Cancel;

pub use self::package_json::{NodePackages, PackageError};
pub use self::recipe::{NodeRecipe, PythonRecipe, Recipe, RecipeError};
pub use self::registry::{Registries, Registry};
pub use self::requirement::{Requirement, RequirementError};
pub use self::script_block::{ScriptBlock, ScriptBlockError};
pub use self::shelf::{Language, Package, Prepared};
pub use self::standing::Standing;

use self::registry::Agreed;
use self::shelf::{ENV, Shelf};
use self::workshop::Workshop;
use crate::run::{Using, Workbench};
use crate::search_path::{Program, SearchPath};

/// How an environment is to be made.
#[derive(Debug)]
pub struct Order<'a> {
    /// Where packages come from.
    pub registries: &'a Registries,
    /// Whether they may be.
    pub reaching: Reaching,
    /// Takes it back.
    pub cancel: Option<&'a Cancel>,
}

/// Whether registries may be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaching {
    /// Where it is needed and the gate lets it.
    IfNeeded,
    /// Never: what is not at hand is missing.
    Never,
}

/// What came of one environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The environment.
    pub prepared: Prepared,
    /// Whether it had to be made.
    pub how: How,
}

/// What had to be done for an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Nothing.
    Ready,
    /// It was made from what was at hand.
    Stocked,
    /// It was fetched and made.
    Fetched,
}

/// Why there is no environment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// What the skill wants cannot be taken.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The skill has no data folder.
    #[error("the skill has no data folder to put an environment into")]
    NoData,
    /// A program is missing.
    #[error("`{0}` is not on the search path: install it or add its folder to PATH")]
    NoProgram(&'static str),
    /// This Python cannot make environments.
    #[error("{} cannot make environments: its `venv` or `ensurepip` is missing; on Debian and Ubuntu install `python3-venv`", .python.display())]
    NoVenv {
        /// Which one.
        python: PathBuf,
    },
    /// Nobody may be reached, and not everything is at hand.
    #[error("{0} packages are not at hand, and nobody may be reached with `--offline`: run it once without")]
    NotStocked(Language),
    /// It may not happen, or not without a yes: then the decision has the question.
    #[error("{decision}")]
    Gate {
        /// What was to happen.
        action: Box<Action>,
        /// What was decided about it.
        decision: Box<Decision>,
    },
    /// A step failed.
    #[error("{what} {ended}:\n{said}")]
    Step {
        /// What was tried.
        what: String,
        /// How it ended.
        ended: String,
        /// The end of what was said.
        said: String,
    },
    /// Something was fetched that is no wheel.
    #[error("`{0}` was fetched and is no wheel, so it is not installed")]
    NoWheel(String),
    /// npm wrote no lock.
    #[error("npm wrote no `package-lock.json`, so nothing was installed")]
    NoLock,
    /// npm's lock has something that is not of the registry.
    #[error("{}: {reason}", .file.display())]
    Lock {
        /// The lock.
        file: PathBuf,
        /// What is in it.
        reason: PackageError,
    },
    /// What it takes could not be had: the skill cannot be read, its data folder cannot be made.
    #[error("{0}")]
    Trouble(String),
    /// The way out could not be opened.
    #[error("the way to the registry could not be opened: {0}")]
    Proxy(io::Error),
    /// The data folder could not be locked.
    #[error("the data folder {} could not be locked: {reason}", .folder.display())]
    Locked {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// That it is complete could not be written down.
    #[error("the record of {} could not be written: {reason}", .folder.display())]
    Record {
        /// The data folder.
        folder: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// The sandbox did not run a step.
    #[error(transparent)]
    Sandbox(#[from] metier_sandbox::Error),
}

/// One environment that is to be made.
struct Job<'a> {
    shelf: Shelf,
    is_stocked: bool,
    wanted: Wanted<'a>,
}

enum Wanted<'a> {
    Python { recipe: &'a PythonRecipe, python: Program },
    Node { recipe: &'a NodeRecipe, npm: Vec<Program> },
}

/// Makes what the skill wants, or finds that it is there. `progress` hears what is done next. A skill that wants nothing
/// gets an empty list.
pub fn prepare(
    bench: &Workbench<'_>,
    using: &Using<'_>,
    order: &Order<'_>,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Made>, PrepareError> {
    let recipe = Recipe::for_registry(using.folder, &order.registries.node.url)?;
    if recipe.is_empty() {
        return Ok(Vec::new());
    }
    let data = using.containment.data.ok_or(PrepareError::NoData)?;
    let jobs = jobs(&recipe, bench, data)?;
    if let Some(all) = ready(&jobs) {
        return Ok(all);
    }
    let hosts = permit(bench, using, order, &recipe, &jobs)?;
    let _lock = lock(data, progress)?;
    // Whoever had the lock may have made it, or removed something that was at hand.
    let jobs = self::jobs(&recipe, bench, data)?;
    let (skill, rules) = (using.skill.clone(), bench.gate.rules.clone());
    let warden = Arc::new(Agreed { hosts, skill, rules });
    let mut shop = Workshop {
        sandbox: bench.sandbox,
        data,
        toolbox: using.containment.toolbox,
        language: using.containment.language,
        outside: &bench.way_out.outside,
        warden,
        cancel: order.cancel,
        progress,
        programs: Vec::new(),
        variables: Vec::new(),
    };
    let shelves: Vec<&Shelf> = jobs.iter().map(|job| &job.shelf).collect();
    let mut made =
        jobs.iter().map(|job| make(&mut shop, job, order.registries)).collect::<Result<Vec<_>, _>>()?;
    if made.len() > 1 {
        // The first was measured without the second.
        let bytes = shop.size(&shelves)?;
        for (shelf, made) in shelves.iter().zip(&mut made) {
            made.prepared.bytes = bytes;
            record(shelf, &made.prepared.packages, bytes)?;
        }
    }
    Ok(made)
}

/// What the skill wants installed and is not, as the beginnings of sentences; empty when it is ready or wants nothing.
/// [`prepare`] would help with all of it but for a recipe that cannot be read.
pub fn missing(skill: &SkillDir, data: &Path, path: &SearchPath) -> Result<Vec<String>, RecipeError> {
    let recipe = Recipe::of(skill)?;
    let line = |language: Language| match Standing::in_folder(&recipe, language, data, path) {
        Standing::Missing => Some(format!("its packages for {language} are not installed")),
        Standing::Stale => {
            Some(format!("its packages for {language} have changed since they were installed"))
        }
        _ => None,
    };
    Ok([Language::Python, Language::Node].into_iter().filter_map(line).collect())
}

fn jobs<'a>(recipe: &'a Recipe, bench: &Workbench<'_>, data: &Path) -> Result<Vec<Job<'a>>, PrepareError> {
    let mut jobs = Vec::new();
    if let Some(recipe) = &recipe.python {
        let python = standing::python(bench.path).ok_or(PrepareError::NoProgram("python3"))?;
        let shelf = Shelf::new(Language::Python, data, recipe.key(&standing::real(&python)));
        let is_stocked = python::stocked(&shelf).is_some();
        jobs.push(Job { shelf, is_stocked, wanted: Wanted::Python { recipe, python } });
    }
    if let Some(recipe) = &recipe.node {
        let npm = bench.path.find("npm").ok_or(PrepareError::NoProgram("npm"))?;
        // npm is a script that node runs, so both have to be shown.
        let node = bench.path.find("node").ok_or(PrepareError::NoProgram("node"))?;
        let shelf = Shelf::new(Language::Node, data, recipe.key());
        let is_stocked = node::is_stocked(&shelf);
        jobs.push(Job { shelf, is_stocked, wanted: Wanted::Node { recipe, npm: vec![npm, node] } });
    }
    Ok(jobs)
}

/// All of them, if all are ready.
fn ready(jobs: &[Job<'_>]) -> Option<Vec<Made>> {
    let one = |job: &Job<'_>| job.shelf.recorded().map(|prepared| Made { prepared, how: How::Ready });
    jobs.iter().map(one).collect()
}

/// Asks the gate, once for all hosts, and gives those that may be reached.
fn permit(
    bench: &Workbench<'_>,
    using: &Using<'_>,
    order: &Order<'_>,
    recipe: &Recipe,
    jobs: &[Job<'_>],
) -> Result<Vec<(Host, u16)>, PrepareError> {
    let mut hosts: Vec<(Host, u16)> = Vec::new();
    for job in jobs.iter().filter(|job| !job.is_stocked && job.shelf.recorded().is_none()) {
        if order.reaching == Reaching::Never {
            return Err(PrepareError::NotStocked(job.shelf.language));
        }
        hosts.extend(match job.shelf.language {
            Language::Python => order.registries.python.hosts.iter().cloned(),
            Language::Node => order.registries.node.hosts.iter().cloned(),
        });
    }
    let action = action(using, recipe, jobs, &hosts);
    let decision = bench.gate.decide(&action);
    if decision.is_allowed() {
        return Ok(hosts);
    }
    Err(PrepareError::Gate { action: Box::new(action), decision: Box::new(decision) })
}

/// The action as the gate sees it: a program of the skill's, called `prepare`, whose words are the packages. A yes to it
/// is bound to the recipe.
fn action(using: &Using<'_>, recipe: &Recipe, jobs: &[Job<'_>], hosts: &[(Host, u16)]) -> Action {
    let mut words = vec!["prepare".to_owned()];
    words.extend(recipe.python.iter().flat_map(|python| python.requirements.iter().map(ToString::to_string)));
    let packages = recipe.node.iter().flat_map(|node| &node.packages.wanted);
    words.extend(packages.map(|(name, version)| format!("{name}@{version}")));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let keys: Vec<String> = jobs.iter().map(|job| job.shelf.name()).collect();
    let mut action = Action::script(using.skill.clone(), "prepare", &words, Some(Digest(keys.join(" "))));
    for (host, port) in hosts {
        action = action.needing(Need::Host { host: host.clone(), port: *port });
    }
    action
}

/// One at a time for each skill.
fn lock(data: &Path, progress: &mut dyn FnMut(&str)) -> Result<FolderLock, PrepareError> {
    let failed = |reason| PrepareError::Locked { folder: data.to_owned(), reason };
    if let Some(lock) = FolderLock::try_take(data).map_err(failed)? {
        return Ok(lock);
    }
    progress("waiting for somebody else who prepares this skill");
    FolderLock::take(data).map_err(failed)
}

fn make(shop: &mut Workshop<'_>, job: &Job<'_>, registries: &Registries) -> Result<Made, PrepareError> {
    let shelf = &job.shelf;
    if let Some(prepared) = shelf.recorded() {
        return Ok(Made { prepared, how: How::Ready });
    }
    let packages = match &job.wanted {
        Wanted::Python { recipe, python } => python::make(shop, shelf, recipe, python, &registries.python)?,
        Wanted::Node { recipe, npm } => node::make(shop, shelf, recipe, npm, &registries.node)?,
    };
    // What other recipes left is not used any more, and would count against what the skill may keep.
    let words = [
        shelf.data.join(ENV).into(),
        shelf.language.word().into(),
        shelf.name().into(),
        shelf.stock().into(),
    ];
    let others: [std::ffi::OsString; 4] = words;
    shop.shell("clearing away", CLEAR, others, Vec::new())?;
    let bytes = shop.size(&[shelf])?;
    record(shelf, &packages, bytes)?;
    let prepared = Prepared { language: shelf.language, folder: shelf.folder(), packages, bytes };
    Ok(Made { prepared, how: if job.is_stocked { How::Stocked } else { How::Fetched } })
}

/// Writes down that an environment is complete, and how much it takes.
fn record(shelf: &Shelf, packages: &[Package], bytes: u64) -> Result<(), PrepareError> {
    shelf
        .write_mark(packages, bytes)
        .map_err(|reason| PrepareError::Record { folder: shelf.data.clone(), reason })
}

/// Removes environments of the same kind that are not this one, and what was fetched for them.
const CLEAR: &str = "\
for place in \"$1/$2\"-*; do
  case $place in \"$1/$3\" | \"$1/$3\".*) ;; *) rm -rf \"$place\" ;; esac
done
for place in \"$(dirname \"$4\")\"/*; do
  if [ \"$place\" != \"$4\" ]; then rm -rf \"$place\"; fi
done";
