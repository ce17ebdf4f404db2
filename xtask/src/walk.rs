//! `walk`: how many source files one run of the program executes.
//!
//! The fewer files a request passes through, the fewer somebody has to read to follow it. The number comes from
//! source coverage of an instrumented build, so it does not depend on who counts.

mod binary;
mod coverage;
mod request;
mod scripted_model;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use self::binary::Binary;
use self::coverage::Coverage;
use self::request::Walk;
use crate::repository::Repository;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Measure this commit instead of the working tree
    #[arg(long, value_name = "REV")]
    commit: Option<String>,
    /// Name the files, too
    #[arg(long)]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Builds the instrumented program, takes the three walks and prints what each executed.
pub(crate) fn run(repository: &Repository, arguments: &Arguments) -> Result<()> {
    let folder = repository.target()?.join("walk");
    let coverage = Coverage::new(&folder)?;
    let binary = Binary::build(repository, &folder, arguments.commit.as_deref(), coverage.profiles())?;
    let mut measured = Vec::new();
    for walk in Walk::ALL {
        coverage.clear()?;
        walk.take(&binary, &folder.join("runs").join(walk.name()))?;
        measured.push((walk, coverage.executed_files(&binary)?));
    }
    if arguments.json {
        println!("{}", as_json(&binary.revision, &measured));
    } else {
        print!("{}", as_text(&binary.revision, &measured, arguments.list));
    }
    Ok(())
}

type Measured = [(Walk, BTreeSet<String>)];

/// The crates that files lie in, with the number of files of each. A crate is named by its folder below `crates/`.
fn by_crate(files: &BTreeSet<String>) -> BTreeMap<&str, usize> {
    let mut crates = BTreeMap::new();
    for file in files {
        let name = file.split('/').nth(1).unwrap_or_default();
        *crates.entry(name).or_default() += 1;
    }
    crates
}

fn as_text(revision: &str, measured: &Measured, list: bool) -> String {
    let mut text = format!("source files with an executed line, {revision}\n");
    for (walk, files) in measured {
        let crates = by_crate(files);
        text += &format!("\n{}: {}\n", walk.name(), walk.summary());
        text += &format!("  {} files in {} crates\n ", files.len(), crates.len());
        for (name, count) in crates {
            text += &format!(" {name} {count}");
        }
        text.push('\n');
        for file in files.iter().filter(|_| list) {
            text += &format!("    {file}\n");
        }
    }
    text
}

fn as_json(revision: &str, measured: &Measured) -> Value {
    let walks: serde_json::Map<_, _> = measured
        .iter()
        .map(|(walk, files)| {
            let value = json!({ "count": files.len(), "crates": by_crate(files), "files": files });
            (walk.name().to_owned(), value)
        })
        .collect();
    json!({ "revision": revision, "walks": walks })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn files_are_counted_by_crate() {
        let files = files(&["crates/cli/src/a.rs", "crates/cli/src/b/c.rs", "crates/store/src/lib.rs"]);
        assert_eq!(by_crate(&files), BTreeMap::from([("cli", 2), ("store", 1)]));
    }

    #[test]
    fn files_are_named_only_on_request() {
        let measured = [(Walk::Offline, files(&["crates/cli/src/a.rs"]))];
        let short = as_text("abc", &measured, false);
        assert!(short.contains("1 files in 1 crates") && short.contains("cli 1"), "{short}");
        assert!(!short.contains("a.rs"), "{short}");
        assert!(as_text("abc", &measured, true).contains("    crates/cli/src/a.rs\n"));
        let value = as_json("abc", &measured);
        assert_eq!(value["walks"]["offline"]["count"], 1);
        assert_eq!(value["walks"]["offline"]["files"][0], "crates/cli/src/a.rs");
    }
}
