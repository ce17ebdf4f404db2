//! What can be said about secrets.

use clap::{Args, Subcommand};
use metier_secret::SecretName;

/// Keeps secrets for a skill: given to its processes only, and taken out of everything they print
///
/// The name is the environment variable in which the skill's processes find the value, once a rule or a yes allows it
/// (`skill:NAME/secret:SECRET`). docs/secrets.md has the whole story.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier secret set JIRA_TOKEN --skill jira-triage         asks for the value and does not show it
  pass show jira | metier secret set JIRA_TOKEN --skill jira-triage
  metier secret list
  metier secret remove JIRA_TOKEN --skill jira-triage")]
pub(crate) struct Secret {
    #[command(subcommand)]
    pub(crate) action: SecretAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretAction {
    Set(SecretSet),
    List(SecretList),
    Remove(SecretRemove),
}

/// Keeps a value, in place of the one there was
///
/// The value is asked for on a terminal and not shown; from a pipe or a file it is all there is, but for one line end at
/// its end. It is never an argument: those stay in the shell's history and are seen by every user of the machine.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier secret set JIRA_TOKEN --skill jira-triage
  metier secret set DEPLOY_KEY --skill deploy < key.pem    a value of several lines")]
pub(crate) struct SecretSet {
    /// The secret, an environment variable such as `API_TOKEN`
    #[arg(value_name = "NAME", value_parser = |name: &str| name.parse::<SecretName>())]
    pub(crate) name: SecretName,
    /// The skill that gets it: NAME or ORIGIN:NAME
    #[arg(long, value_name = "SKILL")]
    pub(crate) skill: String,
}

/// Lists which secrets are kept, for whom and where; never a value
#[derive(Debug, Args)]
pub(crate) struct SecretList {
    /// Only those of this skill, also when it is gone: NAME or ORIGIN:NAME; those of all without it
    #[arg(long, value_name = "SKILL")]
    pub(crate) skill: Option<String>,
}

/// Forgets a value
#[derive(Debug, Args)]
pub(crate) struct SecretRemove {
    /// The secret
    #[arg(value_name = "NAME", value_parser = |name: &str| name.parse::<SecretName>())]
    pub(crate) name: SecretName,
    /// The skill that has it, also when it is gone: NAME or ORIGIN:NAME
    #[arg(long, value_name = "SKILL")]
    pub(crate) skill: String,
}
