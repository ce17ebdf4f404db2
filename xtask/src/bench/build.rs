//! `bench build`: what it costs to compile metier, and how large the programs become.
//!
//! The figures mean something only on a machine that does nothing else, so its load comes first.

use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::Deserialize;

use crate::cargo::Cargo;
use crate::repository::Repository;

/// A part of `bench build`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BuildPart {
    /// `cargo build --release` from an empty target folder
    Whole,
    /// `cargo build` after a change in `crates/agent`
    Rebuild,
    /// The sizes of the programs that are built
    Sizes,
}

/// Units that are listed.
const LISTED: usize = 10;

/// Load per core from which figures are too high to be kept.
const BUSY: f64 = 0.2;

/// Kernel clock ticks in a second, as `/proc` counts; Linux shows the same number on every architecture.
const TICKS: f64 = 100.0;

/// A file that many crates are built on top of.
const TOUCHED: &str = "crates/agent/src/lib.rs";

/// A compilation, as cargo's report of timings has it.
#[derive(Deserialize)]
struct Unit {
    name: String,
    version: String,
    /// Which target of the package, in words; empty for the library.
    #[serde(default)]
    target: String,
    duration: f64,
}

pub(super) fn run(repository: &Repository, only: Option<BuildPart>) -> Result<()> {
    print_machine()?;
    let folder = repository.target()?.join("bench").join("build");
    let parts = only.map_or_else(|| BuildPart::value_variants().to_vec(), |part| vec![part]);
    for part in parts {
        match part {
            BuildPart::Whole => whole(repository, &folder)?,
            BuildPart::Rebuild => rebuild(repository)?,
            BuildPart::Sizes => print_sizes(repository, &folder)?,
        }
    }
    Ok(())
}

fn print_machine() -> Result<()> {
    let cores = thread::available_parallelism().context("the number of cores is unknown")?;
    let text = fs::read_to_string("/proc/loadavg").context("the load is unknown")?;
    let load: f64 =
        text.split(' ').next().and_then(|word| word.parse().ok()).context("the load is unreadable")?;
    println!("cores {cores}, load before {load:.2}");
    let cores = u32::try_from(cores.get()).unwrap_or(u32::MAX);
    if load / f64::from(cores) > BUSY {
        println!("THE MACHINE IS BUSY: times are too high; measure again when nothing else runs");
    }
    Ok(())
}

/// What `cargo run --release` compiles the first time. Dependencies are downloaded before, since the network is not measured.
fn whole(repository: &Repository, folder: &Path) -> Result<()> {
    Cargo::new(repository, ["fetch", "--locked", "--quiet"]).show()?;
    if folder.is_dir() {
        fs::remove_dir_all(folder).with_context(|| format!("{} cannot be removed", folder.display()))?;
    }
    let build = ["build", "--release", "--locked", "--package", "metier", "--timings", "--target-dir"];
    let (wall, processor) = timed(Cargo::new(repository, build).argument(folder))?;
    println!("\nrelease build from nothing: {wall:.1} s, processor {processor:.1} s");
    let mut units = units(&folder.join("cargo-timings").join("cargo-timing.html"))?;
    let total: f64 = units.iter().map(|unit| unit.duration).sum();
    println!("units: {}, {total:.1} s one after the other; the {LISTED} longest:", units.len());
    units.sort_by(|one, other| other.duration.total_cmp(&one.duration));
    for Unit { name, version, target, duration } in units.iter().take(LISTED) {
        println!("  {duration:>6.1} s  {name} {version}{target}");
    }
    Ok(())
}

/// What a developer waits for. The first build brings everything else up to date and is not measured.
fn rebuild(repository: &Repository) -> Result<()> {
    let build = || Cargo::new(repository, ["build", "--locked"]);
    build().show()?;
    let path = repository.root().join(TOUCHED);
    let context = || format!("{} cannot be touched", path.display());
    let file = File::options().append(true).open(&path).with_context(context)?;
    let before = file.metadata()?.modified()?;
    file.set_modified(SystemTime::now()).with_context(context)?;
    let measured = timed(build());
    // Nothing changed, so builds with other profiles need not start over.
    file.set_modified(before).with_context(context)?;
    let (wall, processor) = measured?;
    println!("\ndev build after a change in {TOUCHED}: {wall:.1} s, processor {processor:.1} s");
    Ok(())
}

fn print_sizes(repository: &Repository, folder: &Path) -> Result<()> {
    let target = repository.target()?;
    let programs = [
        ("dev", target.join("debug").join("metier")),
        ("release", folder.join("release").join("metier")),
        ("dist", target.join("dist").join("packages").join("metier")),
    ];
    println!("\nsizes:");
    for (name, path) in programs {
        match fs::metadata(&path) {
            Ok(metadata) => println!("  {name:12} {:>11} bytes", metadata.len()),
            Err(_) => println!("  {name:12} not built"),
        }
    }
    Ok(())
}

/// Seconds on the clock, and seconds of processor time of cargo and of all that it starts.
fn timed(cargo: Cargo) -> Result<(f64, f64)> {
    let (began, before) = (Instant::now(), processor_time()?);
    cargo.show()?;
    let processor = processor_time()?.saturating_sub(before);
    Ok((began.elapsed().as_secs_f64(), processor.as_secs_f64()))
}

/// What all children that ended have used, theirs included.
fn processor_time() -> Result<Duration> {
    let text = fs::read_to_string("/proc/self/stat").context("the processor time is unknown")?;
    let ticks = children_ticks(&text).context("the processor time is unreadable")?;
    Ok(Duration::from_secs_f64(ticks / TICKS))
}

/// The sum of the fields `cutime` and `cstime`. The name of the program, in parentheses, may contain anything.
fn children_ticks(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(13).take(2).map(|field| field.parse::<f64>().ok());
    let ticks: Vec<f64> = ticks.collect::<Option<_>>()?;
    (ticks.len() == 2).then(|| ticks.iter().sum())
}

/// The units in cargo's report. The page has them as a JSON array, one line a unit.
fn units(path: &Path) -> Result<Vec<Unit>> {
    let page = fs::read_to_string(path).with_context(|| format!("{} is missing", path.display()))?;
    parse_units(&page).with_context(|| format!("{} has no list of units", path.display()))
}

fn parse_units(page: &str) -> Result<Vec<Unit>> {
    let (_, rest) = page.split_once("const UNIT_DATA = ").context("no `UNIT_DATA`")?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter();
    Ok(values.next().context("`UNIT_DATA` is empty")??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_out_of_the_page() {
        let page = "<script>\nDURATION = 2;\nconst UNIT_DATA = [\n  {\n    \"i\": 0, \"name\": \"a\", \"version\": \"1.0.0\", \
                    \"mode\": \"todo\", \"target\": \" build script\", \"start\": 0.1, \"duration\": 1.5\n  }\n];\nconst OTHER = [];";
        let units = parse_units(page).unwrap();
        assert_eq!(units.len(), 1);
        assert_eq!((units[0].name.as_str(), units[0].target.as_str()), ("a", " build script"));
        assert!((units[0].duration - 1.5).abs() < f64::EPSILON);
        assert!(parse_units("<html>").is_err());
    }

    #[test]
    fn the_ticks_of_children_come_behind_the_name() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194304 10 20 0 0 3 4 50 60 20 0 1 0 100 1000 10";
        assert_eq!(children_ticks(stat), Some(110.0));
        assert_eq!(children_ticks("7 (a) S 1"), None);
    }
}
