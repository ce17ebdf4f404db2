//! Runs the fuzz targets of `fuzz/`, which is a workspace of its own.
//!
//! Fuzzing needs cargo-fuzz and time, which is why it is no part of `test`. With a nightly compiler what runs is watched by the
//! address sanitizer too; the compiler of this project does without, and finds the same broken properties. Everything that is
//! built, grown and found lies below the target folder, so a checkout stays as it was.

mod compiler;
mod report;
mod target;
mod trial;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::last_run::Recording;
use crate::repository::Repository;
use crate::tool::Tool;
use compiler::Compiler;
use report::Report;
use target::{Target, Targets};
use trial::Trial;

/// Runs the fuzz targets, one after the other, and says what each of them found.
///
/// What the fuzzer needs is installed below target/ the first time; building takes minutes then. What grows while it runs lies in
/// target/fuzz/corpus/TARGET and is taken up by the next run, inputs that break something in target/fuzz/findings/TARGET. The exit
/// code is 0 when nothing was found.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    cargo xtask fuzz --list\n  \
    cargo xtask fuzz shell parse --seconds 300\n  \
    cargo xtask fuzz shell --input target/fuzz/findings/shell/crash-0123")]
pub(crate) struct Arguments {
    /// The targets to run; all of them when left out
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// How long each target runs
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Takes the compiler of this project, without a sanitizer; without this a nightly one is taken where it is installed
    #[arg(long)]
    stable: bool,
    /// Only says which targets there are
    #[arg(long, conflicts_with_all = ["targets", "stable", "input"])]
    list: bool,
    /// Tries this one input again, of the one target that is named, instead of looking for others
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    #[command(flatten)]
    recording: Recording,
}

pub(crate) fn run(repository: &Repository, arguments: &Arguments) -> Result<()> {
    let targets = Targets::read(repository)?;
    if arguments.list {
        print!("{targets}");
        return Ok(());
    }
    let chosen = targets.choose(&arguments.targets)?;
    let input = arguments.input.as_deref().map(|input| readable(input, &chosen)).transpose()?;
    name_missing(&chosen)?;
    let compiler = Compiler::find(repository, arguments.stable)?;
    println!("{compiler}");
    let fuzz = Tool::new(repository, "fuzz")?;
    if !fuzz.is_installed(repository)? {
        println!("cargo-fuzz is missing; installing it below the target folder");
        fuzz.install(repository).context(
            "cargo-fuzz could not be installed; install it yourself with `cargo install --locked cargo-fuzz`",
        )?;
    }
    let home = repository.target()?.join("fuzz");
    // All are built before one runs: what does not build is said at once, not an hour later.
    println!("\n== building ==");
    compiler.build(repository, &fuzz, &home, &chosen)?;
    let mut report = Report::default();
    for target in chosen {
        let trial = Trial::new(repository, &home, target, &compiler.program(&home, target));
        let outcome = if let Some(input) = &input {
            trial.again(input)?
        } else {
            println!("\n== {}, {} s ==", target.name, arguments.seconds);
            trial.search(arguments.seconds)?
        };
        report.push(target.name.clone(), outcome);
    }
    println!("\n{report}");
    arguments.recording.write(repository, "cargo xtask fuzz", &report.sums())?;
    match report.found() {
        0 => Ok(()),
        1 => bail!("one target found something; its input is named above"),
        found => bail!("{found} targets found something; their inputs are named above"),
    }
}

/// The one input to try again, for the one target that it belongs to.
fn readable(input: &Path, chosen: &[&Target]) -> Result<PathBuf> {
    if chosen.len() != 1 {
        bail!("`--input` is for one target; name it, as in `cargo xtask fuzz parse --input FILE`");
    }
    std::path::absolute(input)
        .and_then(|path| std::fs::File::open(&path).map(|_| path))
        .with_context(|| format!("the input {} cannot be read", input.display()))
}

/// Says what of the system is missing before minutes are spent on building.
fn name_missing(chosen: &[&Target]) -> Result<()> {
    // libFuzzer is built from its sources.
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    if !target::starts(&compiler, &["--version"]) {
        bail!(
            "`{compiler}` does not start; libFuzzer is C++: install a compiler, on Debian the package `g++`"
        );
    }
    for target in chosen {
        if let Some(missing) = target.missing() {
            bail!("`{}` cannot run: {missing}", target.name);
        }
    }
    Ok(())
}
