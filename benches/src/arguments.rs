//! What every bench is told; each takes of it what it needs.

use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The program that is measured: the release binary of metier, or of one of its examples
    #[arg(long, value_name = "FILE")]
    pub(crate) metier: PathBuf,
    /// Where the trees are made and kept
    #[arg(long, value_name = "DIR")]
    pub(crate) trees: PathBuf,
    /// Real SKILL.md files, for the tree of real texts
    #[arg(long, value_name = "DIR")]
    pub(crate) corpus: Option<PathBuf>,
    /// How many times each contestant runs on each tree
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// Also measure the tree of 50,000 skills
    #[arg(long)]
    pub(crate) large: bool,
    /// Also write the figures to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}
