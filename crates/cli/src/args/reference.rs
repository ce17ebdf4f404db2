//! What can be said about reference material and completions.

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Prints reference material: JSON Schemas, the table of diagnostics, this command line
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Which one
    #[arg(default_value = "config")]
    pub(crate) what: Reference,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reference {
    /// JSON Schema of config.toml and metier.toml
    Config,
    /// JSON Schema of a SKILL.md's frontmatter
    Skill,
    /// JSON Schema of an agent's frontmatter
    Agent,
    /// JSON Schema of a crew file
    Crew,
    /// Every diagnostic, as Markdown
    Diagnostics,
    /// Every rule of `check`, with reasons and examples, as Markdown
    Rules,
    /// Every command and flag, as Markdown
    Cli,
}

/// Writes completions for a shell, or manual pages
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier completions bash > ~/.local/share/bash-completion/completions/metier
  metier completions man --out ~/.local/share/man/man1")]
pub(crate) struct Completions {
    /// The shell, or `man` for manual pages
    #[arg(value_name = "SHELL", value_parser = PossibleValuesParser::new(TARGETS))]
    pub(crate) target: String,
    /// The folder for manual pages
    #[arg(long, value_name = "DIR", required_if_eq("target", "man"))]
    pub(crate) out: Option<PathBuf>,
}

/// The shells that there are completions for, and manual pages.
const TARGETS: [&str; 6] = ["bash", "elvish", "fish", "powershell", "zsh", "man"];
