//! Runs the fuzz targets of `fuzz/`, which is a workspace of its own.
//!
//! Fuzzing needs cargo-fuzz and time, which is why it is no part of `test`. With a nightly compiler what runs is watched by the
//! address sanitizer too; the compiler of this project does without, and finds the same broken properties.

use anyhow::{Context, Result, bail};

use crate::cargo::Cargo;
use crate::repository::Repository;
use crate::tool::Tool;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The target to run; all of them, one after the other, when left out
    target: Option<String>,
    /// How long each target runs
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Take the compiler of this project, without a sanitizer, also where a nightly one is there
    #[arg(long)]
    stable: bool,
}

/// The compiler that fuzz targets are built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compiler {
    /// A nightly one, which knows sanitizers.
    Nightly,
    /// That of the project.
    Stable,
}

impl Compiler {
    fn found(repository: &Repository) -> Self {
        let is_there = Cargo::new(repository, ["+nightly", "--version"]).succeeds();
        if is_there { Self::Nightly } else { Self::Stable }
    }

    fn toolchain(self) -> Option<&'static str> {
        match self {
            Self::Nightly => Some("+nightly"),
            Self::Stable => None,
        }
    }

    fn sanitizer(self) -> &'static str {
        match self {
            Self::Nightly => "address",
            Self::Stable => "none",
        }
    }
}

/// One input may take this many seconds under the sanitizer on a busy machine; what takes longer is a finding.
const SLOWEST: &str = "-timeout=10";

pub(crate) fn run(repository: &Repository, arguments: &Arguments) -> Result<()> {
    let compiler = if arguments.stable { Compiler::Stable } else { Compiler::found(repository) };
    if compiler == Compiler::Stable {
        println!(
            "without a nightly compiler there is no address sanitizer; the properties are checked all the same"
        );
    }
    let fuzz = Tool::new(repository, "fuzz")?;
    if !fuzz.is_installed(repository)? {
        println!("cargo-fuzz is missing; installing it below the target folder");
        fuzz.install(repository).context(
            "cargo-fuzz could not be installed; install it yourself with `cargo install --locked cargo-fuzz`",
        )?;
    }
    let listed = fuzz.command(repository, compiler.toolchain(), &["list"])?.text()?;
    let seconds = format!("-max_total_time={}", arguments.seconds);
    for target in choose(&listed, arguments.target.as_deref())? {
        println!("\n== {target}, {} s ==", arguments.seconds);
        // What is found grows in `corpus`, which git ignores; `seeds` is what we wrote.
        let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}"));
        std::fs::create_dir_all(repository.root().join(&corpus))?;
        let sanitizer = ["run", "--sanitizer", compiler.sanitizer()];
        let arguments: [&str; 6] = [target, &corpus, &seeds, "--", &seconds, SLOWEST];
        fuzz.command(repository, compiler.toolchain(), &[&sanitizer[..], &arguments[..]].concat())?
            .show()
            .with_context(|| {
                format!("`{target}` found something; its input is in fuzz/artifacts/{target}")
            })?;
    }
    Ok(())
}

/// The targets to run, out of what `cargo fuzz list` printed.
fn choose<'a>(listed: &'a str, wanted: Option<&str>) -> Result<Vec<&'a str>> {
    let targets: Vec<&str> = listed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let Some(wanted) = wanted else {
        if targets.is_empty() {
            bail!("fuzz/ has no targets");
        }
        return Ok(targets);
    };
    match targets.iter().find(|target| **target == wanted) {
        Some(target) => Ok(vec![target]),
        None => bail!("there is no fuzz target `{wanted}`; there are: {}", targets.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_targets_or_the_one_that_was_named() {
        assert_eq!(choose("parse\nsplit\n", None).unwrap(), ["parse", "split"]);
        assert_eq!(choose("parse\nsplit\n", Some("split")).unwrap(), ["split"]);
    }

    #[test]
    fn a_target_that_is_not_there_is_named_with_those_that_are() {
        let error = choose("parse\nsplit\n", Some("splti")).unwrap_err().to_string();
        assert_eq!(error, "there is no fuzz target `splti`; there are: parse, split");
        assert!(choose("\n", None).is_err());
    }
}
