//! Makes the environment that a skill's scripts want: packages for Python, packages for Node.
//!
//! A [`Recipe`] is what the skill's own files ask for. [`prepare`] asks the gate about the hosts it takes, fetches, writes a
//! lock with exact versions and digests, and installs from that, all of it contained and below `env/` in the skill's data
//! folder. Once made, nothing is fetched again: a second time is answered from what is there. [`EnvironmentState`] is how a script
//! is started with it.
//!
//! The data folder is written by the skill's own scripts, too, so nothing here writes to it from outside: every change is
//! made by a process that sees nothing else, and what is read is read without following a link out of it.

mod environment_dir;
mod environment_state;
mod installer;
mod lock;
mod node;
mod package_json;
mod python;
mod recipe;
mod registry;
mod requirement;
mod script_block;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use metier_files::{FolderLock, SkillDir};
use metier_policy::{Action, Decision, Digest, Host, Need};
use metier_sandbox::Cancel;

pub use self::environment_dir::{Language, Package, PreparedEnvironment};
pub use self::environment_state::EnvironmentState;
use self::package_json::NodePackages;
pub use self::package_json::PackageError;
pub use self::recipe::RecipeError;
pub(crate) use self::recipe::{PythonRecipe, Recipe};
pub use self::registry::{Registries, Registry};
pub use self::requirement::RequirementError;
pub use self::script_block::ScriptBlockError;

use self::environment_dir::{ENV, EnvironmentDir};
use self::installer::Installer;
use self::registry::ApprovedRegistries;
use crate::run::{ExecEnv, SkillContext};
use crate::search_path::{Program, SearchPath};

/// How to make an environment.
#[derive(Debug)]
pub struct PrepareOptions<'a> {
    /// Where packages come from.
    pub registries: &'a Registries,
    /// Whether registries may be reached.
    pub reaching: RegistryAccess,
    /// Cancels it.
    pub cancel: Option<&'a Cancel>,
}

/// Whether registries may be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistryAccess {
    /// Where it is needed and the gate lets it.
    IfNeeded,
    /// Never: what is not at hand is missing.
    Never,
}

/// The result for one environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrepareOutcome {
    /// The environment.
    pub prepared: PreparedEnvironment,
    /// Whether it had to be made.
    pub how: PrepareWork,
}

/// What had to be done for an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrepareWork {
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
    dir: EnvironmentDir,
    is_stocked: bool,
    wanted: Wanted<'a>,
}

enum Wanted<'a> {
    Python { recipe: &'a PythonRecipe, python: Program },
    Node { recipe: &'a NodePackages, npm: Vec<Program> },
}

/// Makes what the skill wants, or finds that it is there. `progress` hears what is done next. A skill that wants nothing
/// gets an empty list.
pub fn prepare(
    env: &ExecEnv<'_>,
    context: &SkillContext<'_>,
    order: &PrepareOptions<'_>,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<PrepareOutcome>, PrepareError> {
    let recipe = Recipe::for_registry(context.folder, &order.registries.node.url)?;
    if recipe.is_empty() {
        return Ok(Vec::new());
    }
    let data = context.containment.data.ok_or(PrepareError::NoData)?;
    let jobs = jobs(&recipe, env, data)?;
    if let Some(all) = ready(&jobs) {
        return Ok(all);
    }
    let hosts = permit(env, context, order, &recipe, &jobs)?;
    let _lock = lock(data, progress)?;
    // Whoever had the lock may have made it, or removed something that was at hand.
    let jobs = self::jobs(&recipe, env, data)?;
    let (skill, rules) = (context.skill.clone(), env.gate.rules.clone());
    let warden = Arc::new(ApprovedRegistries { hosts, skill, rules });
    let mut installer = Installer {
        sandbox: env.sandbox,
        data,
        toolbox: context.containment.toolbox,
        language: context.containment.language,
        outside: &env.network.outside,
        warden,
        cancel: order.cancel,
        progress,
        programs: Vec::new(),
        variables: Vec::new(),
    };
    let dirs: Vec<&EnvironmentDir> = jobs.iter().map(|job| &job.dir).collect();
    let mut made =
        jobs.iter().map(|job| make(&mut installer, job, order.registries)).collect::<Result<Vec<_>, _>>()?;
    if made.len() > 1 {
        // The first was measured without the second.
        let bytes = installer.size(&dirs)?;
        for (dir, made) in dirs.iter().zip(&mut made) {
            made.prepared.bytes = bytes;
            record(dir, &made.prepared.packages, bytes)?;
        }
    }
    Ok(made)
}

/// What the skill wants installed and is not, as the beginnings of sentences; empty when it is ready or wants nothing.
/// [`prepare`] would help with all of it but for a recipe that cannot be read.
pub fn missing(skill: &SkillDir, data: &Path, path: &SearchPath) -> Result<Vec<String>, RecipeError> {
    let recipe = Recipe::of(skill)?;
    let line = |language: Language| match EnvironmentState::in_folder(&recipe, language, data, path) {
        EnvironmentState::Missing => Some(format!("its packages for {language} are not installed")),
        EnvironmentState::Stale => {
            Some(format!("its packages for {language} have changed since they were installed"))
        }
        _ => None,
    };
    Ok([Language::Python, Language::Node].into_iter().filter_map(line).collect())
}

fn jobs<'a>(recipe: &'a Recipe, env: &ExecEnv<'_>, data: &Path) -> Result<Vec<Job<'a>>, PrepareError> {
    let mut jobs = Vec::new();
    if let Some(recipe) = &recipe.python {
        let python = environment_state::python(env.path).ok_or(PrepareError::NoProgram("python3"))?;
        let dir = EnvironmentDir::new(Language::Python, data, recipe.key(&environment_state::real(&python)));
        let is_stocked = python::stocked(&dir).is_some();
        jobs.push(Job { dir, is_stocked, wanted: Wanted::Python { recipe, python } });
    }
    if let Some(recipe) = &recipe.node {
        let npm = env.path.find("npm").ok_or(PrepareError::NoProgram("npm"))?;
        // npm is a script that node runs, so both have to be shown.
        let node = env.path.find("node").ok_or(PrepareError::NoProgram("node"))?;
        let dir = EnvironmentDir::new(Language::Node, data, recipe.key());
        let is_stocked = node::is_stocked(&dir);
        jobs.push(Job { dir, is_stocked, wanted: Wanted::Node { recipe, npm: vec![npm, node] } });
    }
    Ok(jobs)
}

/// All of them, if all are ready.
fn ready(jobs: &[Job<'_>]) -> Option<Vec<PrepareOutcome>> {
    let one = |job: &Job<'_>| {
        job.dir.recorded().map(|prepared| PrepareOutcome { prepared, how: PrepareWork::Ready })
    };
    jobs.iter().map(one).collect()
}

/// Asks the gate, once for all hosts, and gives those that may be reached.
fn permit(
    env: &ExecEnv<'_>,
    context: &SkillContext<'_>,
    order: &PrepareOptions<'_>,
    recipe: &Recipe,
    jobs: &[Job<'_>],
) -> Result<Vec<(Host, u16)>, PrepareError> {
    let mut hosts: Vec<(Host, u16)> = Vec::new();
    for job in jobs.iter().filter(|job| !job.is_stocked && job.dir.recorded().is_none()) {
        if order.reaching == RegistryAccess::Never {
            return Err(PrepareError::NotStocked(job.dir.language));
        }
        hosts.extend(match job.dir.language {
            Language::Python => order.registries.python.hosts.iter().cloned(),
            Language::Node => order.registries.node.hosts.iter().cloned(),
        });
    }
    let action = action(context, recipe, jobs, &hosts);
    let decision = env.gate.decide(&action);
    if decision.is_allowed() {
        return Ok(hosts);
    }
    Err(PrepareError::Gate { action: Box::new(action), decision: Box::new(decision) })
}

/// The action as the gate sees it: a program of the skill's, called `prepare`, whose words are the packages. A yes to it
/// is bound to the recipe.
fn action(context: &SkillContext<'_>, recipe: &Recipe, jobs: &[Job<'_>], hosts: &[(Host, u16)]) -> Action {
    let mut words = vec!["prepare".to_owned()];
    words.extend(recipe.python.iter().flat_map(|python| python.requirements.iter().map(ToString::to_string)));
    let packages = recipe.node.iter().flat_map(|node| &node.wanted);
    words.extend(packages.map(|(name, version)| format!("{name}@{version}")));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let keys: Vec<String> = jobs.iter().map(|job| job.dir.name()).collect();
    let mut action = Action::script(context.skill.clone(), "prepare", &words, Some(Digest(keys.join(" "))));
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

fn make(
    installer: &mut Installer<'_>,
    job: &Job<'_>,
    registries: &Registries,
) -> Result<PrepareOutcome, PrepareError> {
    let dir = &job.dir;
    if let Some(prepared) = dir.recorded() {
        return Ok(PrepareOutcome { prepared, how: PrepareWork::Ready });
    }
    let packages = match &job.wanted {
        Wanted::Python { recipe, python } => {
            python::make(installer, dir, recipe, python, &registries.python)?
        }
        Wanted::Node { recipe, npm } => node::make(installer, dir, recipe, npm, &registries.node)?,
    };
    // What other recipes left is not used any more, and would count against what the skill may keep.
    let words =
        [dir.data.join(ENV).into(), dir.language.word().into(), dir.name().into(), dir.stock().into()];
    let others: [std::ffi::OsString; 4] = words;
    installer.shell("clearing away", CLEAR, others, Vec::new())?;
    let bytes = installer.size(&[dir])?;
    record(dir, &packages, bytes)?;
    let prepared = PreparedEnvironment { language: dir.language, folder: dir.folder(), packages, bytes };
    Ok(PrepareOutcome {
        prepared,
        how: if job.is_stocked { PrepareWork::Stocked } else { PrepareWork::Fetched },
    })
}

/// Writes down that an environment is complete, and how much it takes.
fn record(dir: &EnvironmentDir, packages: &[Package], bytes: u64) -> Result<(), PrepareError> {
    dir.write_mark(packages, bytes)
        .map_err(|reason| PrepareError::Record { folder: dir.data.clone(), reason })
}

/// Removes environments of the same kind that are not this one, and what was fetched for them.
const CLEAR: &str = "\
for place in \"$1/$2\"-*; do
  case $place in \"$1/$3\" | \"$1/$3\".*) ;; *) rm -rf \"$place\" ;; esac
done
for place in \"$(dirname \"$4\")\"/*; do
  if [ \"$place\" != \"$4\" ]; then rm -rf \"$place\"; fi
done";
