//! What can be said about judging skills: `check`, and what a model would be offered.

use super::at_least_one;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Says what is wrong with skills, for whom, and mends what can be mended
///
/// A PATH is a SKILL.md, a folder with skills somewhere below it, the file of an agent or a crew, or `-` for standard input.
/// Without one, it is the current folder. The exit code is 1 when there are errors; with `--strict` warnings count, too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier check skills                        every skill below skills/
  metier check --for claude-code,codex pdf   will it load there, and mean the same there?
  metier check --diff . && metier check --fix .
                                             see what would be mended, then do it
  metier check --changed main                only skills that differ from a branch
  metier check .claude/agents/reviewer.md    an agent, or a crew: is everything there that it names?
  metier check --format sarif > metier.sarif for code scanning

Rules are allowed or denied in metier.toml: `[lint] allow = [\"unknown-key\"]`, for a path with `[[lint.paths]]`.
All of them are in docs/reference/rules.md.")]
pub(crate) struct Check {
    /// What to check
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Also says what these clients make of each skill
    #[arg(long = "for", value_name = "PROFILE", value_delimiter = ',')]
    pub(crate) profiles: Vec<String>,
    /// How findings are written; `--json` is `--format json`
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: CheckFormat,
    /// Mends what can be mended in only one way
    #[arg(long, conflicts_with = "diff")]
    pub(crate) fix: bool,
    /// Shows what `--fix` would change, and changes nothing
    #[arg(long)]
    pub(crate) diff: bool,
    /// Fails on warnings, too
    #[arg(long)]
    pub(crate) strict: bool,
    /// Only skills with changes since this git revision, files that are not yet added included
    #[arg(long, value_name = "REV")]
    pub(crate) changed: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people, with the line in question
    Text,
    /// For programs
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
}

/// Prints exactly what a model would see first
#[derive(Debug, Args)]
pub(crate) struct Catalog {
    /// How skills are listed; the default comes from the configuration
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// The most tokens it may take, at 4 bytes each; 4,000 if nothing else is configured
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<usize>,
    /// Adds the note that comes with this request: the skills that fit it best, each with its full description
    #[arg(long, value_name = "TEXT")]
    pub(crate) request: Option<String>,
}

/// Says which skills would be offered for a request, how well each fits, and why
///
/// Skills are read whole: name, description, headings, text, script names, and what they say they are not for. No model and
/// no network is used; the same skills and the same request always give the same answer. Where nothing fits well enough to
/// be taken without asking, that is said.
#[derive(Debug, Args)]
pub(crate) struct Route {
    /// What you want, in your own words
    #[arg(value_name = "REQUEST", required_unless_present = "batch", conflicts_with = "batch")]
    pub(crate) query: Option<String>,
    /// How many skills to show
    #[arg(short = 'k', long = "limit", value_name = "N", default_value_t = 5, value_parser = at_least_one)]
    pub(crate) limit: usize,
    /// Reads one JSON object a line (`id`, `query`) and writes one a line (`id`, `results`, `abstain`); `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) batch: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A line per skill
    Markdown,
    /// `<available_skills>`, with the place of each
    Xml,
    /// Every skill's whole text
    Eager,
}
