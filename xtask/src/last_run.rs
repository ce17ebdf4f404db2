//! The last results of the chores that take too long for every change, in a page that is committed.

use std::fs;

use anyhow::{Context, Result};

use crate::cargo::Cargo;
use crate::repository::Repository;

/// A table with one row per command; a new result replaces the old one.
const PAGE: &str = "docs/explanation/long-runs.md";

/// Whether a result is written down.
#[derive(clap::Args)]
pub(crate) struct Recording {
    /// Write the result into docs/explanation/long-runs.md
    #[arg(long)]
    record: bool,
}

impl Recording {
    /// Replaces the row of `command`, or adds one.
    pub(crate) fn write(&self, repository: &Repository, command: &str, result: &str) -> Result<()> {
        if !self.record {
            return Ok(());
        }
        let commit = line_of(&["log", "-1", "--format=%h, %cs"], repository)?;
        let path = repository.root().join(PAGE);
        let page = fs::read_to_string(&path).with_context(|| format!("{PAGE} cannot be read"))?;
        fs::write(&path, with_row(&page, command, &commit, result))
            .with_context(|| format!("{PAGE} cannot be written"))?;
        println!("written  {PAGE}");
        Ok(())
    }
}

/// What git prints for these arguments.
fn line_of(arguments: &[&str], repository: &Repository) -> Result<String> {
    let output = std::process::Command::new("git").args(arguments).current_dir(repository.root()).output();
    let output = output.context("git cannot be started")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn with_row(page: &str, command: &str, commit: &str, result: &str) -> String {
    let name = format!("| `{command}` |");
    let row = format!("{name} {commit} | {} |", result.replace('|', "/"));
    let mut lines: Vec<&str> = page.lines().collect();
    match lines.iter().position(|line| line.starts_with(&name)) {
        Some(index) => lines[index] = &row,
        None => lines.push(&row),
    }
    lines.join("\n") + "\n"
}

/// Kills a working agent many times, which the tests do only some times.
#[derive(clap::Args)]
pub(crate) struct CrashArguments {
    /// How many runs are killed
    #[arg(long, default_value_t = 200)]
    rounds: u32,
    #[command(flatten)]
    recording: Recording,
}

pub(crate) fn crash(repository: &Repository, arguments: &CrashArguments) -> Result<()> {
    let test = ["test", "--package", "metier-agent", "--test", "it", "crash::runs", "--", "--nocapture"];
    let printed = Cargo::new(repository, test)
        .environment("METIER_CRASH_ROUNDS", arguments.rounds.to_string())
        .text()?;
    print!("{printed}");
    let tally = printed.lines().find(|line| line.contains("seed ")).context("the test printed no sums")?;
    let tally = tally.find("seed ").map_or(tally, |start| &tally[start..]);
    arguments.recording.write(repository, "cargo xtask crash", tally.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_result_replaces_the_row_of_its_command() {
        let page = "# Long runs\n\n| command | commit | result |\n|---|---|---|\n| `a` | 1 | old |\n| `b` | 1 | b |\n";
        let page = with_row(page, "a", "2", "x|y");
        let page = with_row(&page, "c", "2", "new");
        assert_eq!(
            page,
            "# Long runs\n\n| command | commit | result |\n|---|---|---|\n| `a` | 2 | x/y |\n| `b` | 1 | b |\n| `c` | 2 | new |\n"
        );
    }
}
