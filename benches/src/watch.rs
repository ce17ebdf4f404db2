//! The bench of the watcher: how long a write takes to be in the snapshot in force, among 10,000 skills.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::tree::Tree;

/// The size at which it is judged.
const SKILLS: usize = 10_000;

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
