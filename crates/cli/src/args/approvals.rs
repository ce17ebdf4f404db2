//! What can be said about approvals.

use clap::{ArgGroup, Args, Subcommand};

/// Lists what you approved for good in this project, and takes it back
///
/// An approval is your answer "always in this project" to a question. It holds in that project alone, for exactly what the
/// question showed: who acts, the command or the file, every host, path and secret. Where a skill's own files run, it ends when
/// one of them changes. Approvals are in your configuration, never in a project's files. docs/approvals.md has the whole story.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  metier approvals                             what holds in this project: id, day, who may do what
  metier approvals --all                       the same for every project
  metier approvals --json                      for programs, with the whole key of each
  metier approvals revoke 3f9a12c0             takes one back; you are asked again
  metier approvals revoke --all                takes all back, of every project

Rules in `config.toml` are not approvals: `metier explain --action ACTION` says which of them allows something."
)]
pub(crate) struct Approvals {
    /// Also lists what was approved in other projects
    #[arg(long)]
    pub(crate) all: bool,
    #[command(subcommand)]
    pub(crate) action: Option<ApprovalsAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsAction {
    Revoke(Revoke),
}

/// Takes approvals back: what they allowed is asked about again
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).args(["ids", "all"]))]
#[command(after_help = "Examples:
  metier approvals revoke 3f9a12c0
  metier approvals revoke 3f9a 81c2            the beginnings of ids, where those mean one each
  metier approvals revoke --all

A session that runs already keeps what it was given.")]
pub(crate) struct Revoke {
    /// The approvals, by the ids that `metier approvals` shows
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// All of them, of every project
    #[arg(long)]
    pub(crate) all: bool,
}
