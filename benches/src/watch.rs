//! The bench of the watcher: how long a write takes to be in the snapshot in force, among 10,000 skills.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::tree::Tree;

/// The size at which it is judged.
const SKILLS: usize = 10_000;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The release build of the example `watch` of metier-catalog, which changes files and waits for them
    #[arg(long, value_name = "FILE")]
    metier: PathBuf,
    /// Where the trees are made and kept
    #[arg(long, value_name = "DIR")]
    trees: PathBuf,
    /// How many files are changed, in tens
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Taken for the sake of the other benches
    #[arg(long, hide = true)]
    corpus: Option<PathBuf>,
    /// Taken for the sake of the other benches
    #[arg(long, hide = true)]
    large: bool,
    /// Taken for the sake of the other benches
    #[arg(long, hide = true, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // A tree of its own, since its files are written to.
    let folder = std::path::absolute(&arguments.trees)?.join("watched");
    let tree = Tree::generated(&folder, SKILLS)?;
    println!("watch: from a write to the snapshot in force, at most 150 ms");
    let mut command = Command::new(&arguments.metier);
    command.arg(&tree.root).arg((arguments.rounds * 10).to_string());
    let status = command.status().with_context(|| format!("{command:?} could not be started"))?;
    if !status.success() {
        bail!("{command:?} failed ({status})");
    }
    Ok(())
}
