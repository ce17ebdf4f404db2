//! The fuzz targets that there are: a file each, whose first line says what it holds.

use std::fmt;
use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::repository::Repository;

/// One fuzz target.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) name: String,
    /// The first line of its documentation.
    words: String,
}

/// All of them, by name.
#[derive(Debug)]
pub(super) struct Targets(Vec<Target>);

impl Target {
    fn new(name: &str, source: &str) -> Self {
        let words = source.lines().next().and_then(|line| line.strip_prefix("//!")).unwrap_or_default();
        Self { name: name.to_owned(), words: words.trim().to_owned() }
    }

    /// What of the system this target needs and does not find.
    pub(super) fn missing(&self) -> Option<&'static str> {
        let is_there = match self.name.as_str() {
            "shell" => starts("/bin/bash", &["-c", "exit $((BASH_VERSINFO[0] < 5))"]),
            _ => true,
        };
        (!is_there).then_some("it compares with a real bash, and there is no /bin/bash of version 5 or later")
    }
}

impl Targets {
    /// Those of the repository.
    pub(super) fn read(repository: &Repository) -> Result<Self> {
        let folder = repository.root().join("fuzz").join("targets");
        let mut targets = Vec::new();
        for entry in fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))? {
            let path = entry?.path();
            let (Some(name), Some("rs")) = (
                path.file_stem().and_then(|name| name.to_str()),
                path.extension().and_then(|end| end.to_str()),
            ) else {
                continue;
            };
            targets.push(Target::new(name, &fs::read_to_string(&path)?));
        }
        targets.sort_by(|first, second| first.name.cmp(&second.name));
        Ok(Self(targets))
    }

    /// The targets of these names, in the order in which they were named; all of them for no name.
    pub(super) fn choose(&self, wanted: &[String]) -> Result<Vec<&Target>> {
        if wanted.is_empty() {
            return Ok(self.0.iter().collect());
        }
        let find = |wanted: &String| {
            self.0.iter().find(|target| target.name == *wanted).with_context(|| {
                let names: Vec<&str> = self.0.iter().map(|target| target.name.as_str()).collect();
                format!("there is no fuzz target `{wanted}`; there are: {}", names.join(", "))
            })
        };
        wanted.iter().map(find).collect()
    }
}

impl fmt::Display for Targets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|target| target.name.len()).max().unwrap_or(0);
        for Target { name, words } in &self.0 {
            writeln!(formatter, "{name:width$}  {words}")?;
        }
        Ok(())
    }
}

/// Whether a program is there, starts and ends well, in silence.
pub(super) fn starts(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Targets {
        let target = |name| Target::new(name, &format!("//! What {name} holds.\n//!\n//! More.\n"));
        Targets(["check", "parse", "split"].map(target).into())
    }

    fn names(targets: &[&Target]) -> Vec<String> {
        targets.iter().map(|target| target.name.clone()).collect()
    }

    #[test]
    fn all_targets_or_those_that_were_named_in_that_order() {
        assert_eq!(names(&three().choose(&[]).unwrap()), ["check", "parse", "split"]);
        let wanted = ["split".to_owned(), "check".to_owned()];
        assert_eq!(names(&three().choose(&wanted).unwrap()), wanted);
    }

    #[test]
    fn a_target_that_is_not_there_is_named_with_those_that_are() {
        let error = three().choose(&["splti".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "there is no fuzz target `splti`; there are: check, parse, split");
    }

    #[test]
    fn the_list_has_the_first_line_of_each() {
        let list = three().to_string();
        assert_eq!(list, "check  What check holds.\nparse  What parse holds.\nsplit  What split holds.\n");
    }

    #[test]
    fn every_target_is_built_described_and_has_seeds() {
        let repository = Repository::find();
        let fuzz = repository.root().join("fuzz");
        let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
        let readme = fs::read_to_string(fuzz.join("README.md")).unwrap();
        let targets = Targets::read(&repository).unwrap().0;
        assert!(targets.len() >= 14);
        for Target { name, words } in &targets {
            assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"targets/{name}.rs\"")), "{name}");
            assert!(readme.contains(&format!("\n| `{name}` |")), "{name} has no row in fuzz/README.md");
            assert!(!words.is_empty(), "{name} does not say what it holds");
            let seeds = fs::read_dir(fuzz.join("seeds").join(name));
            assert!(seeds.is_ok_and(|seeds| seeds.count() > 0), "{name} has no seeds");
        }
        assert_eq!(manifest.matches("[[bin]]").count(), targets.len());
    }
}
