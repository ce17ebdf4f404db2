//! The arguments of `changes`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Lists what commands changed in the project: waiting for approval, applied, discarded
///
/// A contained command writes to a private layer, not to the project. When it has ended, what rules or earlier approvals
/// cover is applied; the rest waits here until you apply or discard it. Nothing runs a second time for it.
/// docs/changes.md has the whole story.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier changes                        what waits here, and what was applied lately
  metier changes show last              every path of the latest set
  metier changes show last --diff       with the changed lines
  metier changes apply last             asks, then applies all of it
  metier changes apply last docs/a.md   only this path
  metier changes apply last --ignored   what git ignores, such as `target/`
  metier changes discard last
  metier changes undo                   takes back what was applied last")]
pub(crate) struct Changes {
    #[command(subcommand)]
    pub(crate) action: Option<ChangesAction>,
    /// Also those of other projects
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChangesAction {
    Show(ChangesShow),
    Apply(ChangesApply),
    Discard(ChangesDiscard),
    Undo(ChangesUndo),
}

/// Shows every path of a set
#[derive(Debug, Args)]
pub(crate) struct ChangesShow {
    /// The set: its id, the beginning of it, or `last`
    #[arg(value_name = "ID", default_value = "last")]
    pub(crate) id: String,
    /// Only these paths and what is below them, seen from the current folder
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Adds the changed lines of text files
    #[arg(long)]
    pub(crate) diff: bool,
}

/// Applies a set to the project: all of what is selected, or nothing
///
/// A file that another program changed since the command began is a conflict: it is named, and nothing is applied.
/// Protected paths, such as git hooks, are named one by one in the question. With `--yes` you name them.
#[derive(Debug, Args)]
pub(crate) struct ChangesApply {
    /// The set: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Only these paths and what is below them, seen from the current folder
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Applies the ignored and cache files, such as `target/`, that the session of the set keeps
    #[arg(long)]
    pub(crate) ignored: bool,
    /// Applies without asking. Each protected path has to be named, by `--protected` or as PATH
    #[arg(long)]
    pub(crate) yes: bool,
    /// Names a protected path that `--yes` applies too; may be repeated
    #[arg(long, value_name = "PATH", requires = "yes")]
    pub(crate) protected: Vec<PathBuf>,
}

/// Drops a set; it is kept for a week in case you change your mind
#[derive(Debug, Args)]
pub(crate) struct ChangesDiscard {
    /// The sets: ids, their beginnings, or `last`
    #[arg(value_name = "ID", required_unless_present = "pending")]
    pub(crate) ids: Vec<String>,
    /// Everything that waits in this project
    #[arg(long, conflicts_with = "ids")]
    pub(crate) pending: bool,
}

/// Takes back what was applied last, while nothing else has changed it
///
/// A file that was changed since, or that was put into a folder that the set made, is a conflict: it is named, and nothing
/// is taken back. Of a set that was applied in parts, the last part is taken back.
#[derive(Debug, Args)]
pub(crate) struct ChangesUndo {
    /// The set: its id, the beginning of it, or `last`
    #[arg(value_name = "ID", default_value = "last")]
    pub(crate) id: String,
}
