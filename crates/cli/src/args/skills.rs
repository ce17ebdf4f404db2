//! What can be said about skills that are there, and a new one.

use super::call::ActiveSkills;
use clap::{ArgGroup, Args};
use std::path::PathBuf;

/// Lists the skills that were found, and says what is wrong with those that failed
///
/// The first line counts them: `loaded` is every skill that could be read, whatever its state; `failed` is refused, and
/// each failure says where and why. Nothing is skipped in silence.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that stands for itself")]
pub(crate) struct List {
    /// Also shows nested, shadowed and disabled skills, identical copies, and where each came from
    #[arg(long)]
    pub(crate) all: bool,
    /// Shows what each skill costs: in the catalogue, and when it is activated
    #[arg(long)]
    pub(crate) tokens: bool,
    /// Adds the digest of each skill's folder (reads every file)
    #[arg(long)]
    pub(crate) digest: bool,
    /// Goes on after the list with a line for each change, until Ctrl-C; the list alone without it
    #[arg(long)]
    pub(crate) watch: bool,
}

/// Shows one skill whole: what it says of itself, its files, what it asks for
#[derive(Debug, Args)]
#[command(after_help = "A name may say where from and which version: `project:deploy`, `deploy@^1.2`.")]
pub(crate) struct Show {
    /// The skill: NAME, ORIGIN:NAME or NAME@REQUIREMENT
    pub(crate) name: String,
}

/// Says why a name is found, shadowed, disabled, untrusted, hidden, broken or missing, and what to do
///
/// With `--action`, says whether something would be allowed and by which rule; with `--last`, why the last call was
/// refused and the rule that would allow it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier explain deploy
  metier explain --action 'skill:deploy/script:run.sh'
  metier explain --action 'Bash(git push)' --skill deploy
  metier explain --last")]
#[command(group = ArgGroup::new("subject").required(true).args(["name", "action", "last"]))]
pub(crate) struct Explain {
    /// The name in question
    pub(crate) name: Option<String>,
    /// Would this be allowed? Written like a rule: `skill:NAME/command:git push`, `Bash(git status)`
    #[arg(long, value_name = "ACTION")]
    pub(crate) action: Option<String>,
    /// Why was the last call refused?
    #[arg(long)]
    pub(crate) last: bool,
    #[command(flatten)]
    pub(crate) scope: ActiveSkills,
}

/// Makes a new skill: a folder with a SKILL.md that loads everywhere
#[derive(Debug, Args)]
pub(crate) struct New {
    /// The skill's name: lower-case letters, digits and hyphens
    pub(crate) name: String,
    /// What it does and when to use it; asked for on a terminal
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// The folder to make it in; the project's `.agents/skills`, or your own skills outside a project
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Adds scripts/run.sh, ready to run
    #[arg(long)]
    pub(crate) script: bool,
}
