//! Builds all tests once, with the lints, and runs the test binaries side by side.
//!
//! `cargo clippy` and `cargo test` would each compile the workspace. clippy's driver is a whole compiler, so the build of the tests
//! goes through it and reports lints on the way. `cargo test` would also run one binary after the other, and most of them wait:
//! for processes, clocks and locks.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use cargo_metadata::Message;

use super::counts::Counts;
use crate::cargo::Cargo;
use crate::repository::Repository;

/// Where tests note what they could not try, one line each; see `metier_testkit::not_tried`.
const NOT_TRIED: &str = "METIER_NOT_TRIED";

/// The binaries that start first because they take longest. The others follow in the order in which they were built.
const LONGEST: &[&str] = &["metier/it", "metier/findings", "metier-sandbox/escape"];

/// One compiled test binary.
struct TestBinary {
    /// Its package and target, as in `metier-skill/it`.
    name: String,
    program: PathBuf,
    /// The package's folder. Tests start there, as under `cargo test`.
    folder: PathBuf,
}

/// What a test binary did.
struct Run {
    name: String,
    output: String,
    passed: bool,
    time: Duration,
}

/// Compiles every test and example of the workspace; a lint is an error.
fn build(repository: &Repository) -> Result<Vec<TestBinary>> {
    let cargo = Cargo::new(repository, ["test", "--workspace", "--no-run", "--message-format"])
        .argument("json-render-diagnostics");
    let mut binaries = Vec::new();
    cargo.read(|output| {
        for message in Message::parse_stream(BufReader::new(output)) {
            let Message::CompilerArtifact(artifact) = message? else { continue };
            let Some(program) = artifact.executable.filter(|_| artifact.profile.test) else { continue };
            let folder = artifact.manifest_path.parent().context("a manifest lies in a folder")?;
            // `path+file:///…/crates/skill#metier-skill@0.1.0`, or `…/crates/skill#0.1.0` for a folder of the package's name.
            let package = artifact.package_id.repr.rsplit(['#', '/']).find_map(|part| {
                let name = part.split('@').next().unwrap_or(part);
                (!name.starts_with(|first: char| first.is_ascii_digit())).then(|| name.to_owned())
            });
            let name = format!("{}/{}", package.unwrap_or_default(), artifact.target.name);
            binaries.push(TestBinary { name, program: program.into(), folder: folder.into() });
        }
        Ok(())
    })?;
    if binaries.is_empty() {
        bail!("cargo built no test");
    }
    binaries
        .sort_by_key(|binary| LONGEST.iter().position(|name| *name == binary.name).unwrap_or(LONGEST.len()));
    Ok(binaries)
}

/// Runs every test of the workspace, documentation included, and adds up what they say.
pub(super) fn run(repository: &Repository) -> Result<Counts> {
    let binaries = build(repository)?;
    let not_tried = repository.target()?.join("not-tried.txt");
    match fs::remove_file(&not_tried) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("{} cannot be removed", not_tried.display()));
        }
        _ => {}
    }
    let mut counts = Counts::default();
    let mut failed = Vec::new();
    // One more than there are cores, since most tests wait.
    let at_once = thread::available_parallelism().map_or(1, usize::from) + 1;
    let environment = repository.lint_environment();
    let queue = Mutex::new(VecDeque::from(binaries));
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..at_once {
            let (queue, sender) = (&queue, sender.clone());
            let (environment, not_tried) = (&environment, &not_tried);
            scope.spawn(move || {
                while let Some(binary) = next(queue) {
                    // Nobody receives any more after an error, which ends the run.
                    let _ = sender.send(one(&binary, environment, not_tried));
                }
            });
        }
        drop(sender);
        for run in receiver {
            let Run { name, output, passed, time } = run?;
            counts.add(&output);
            let end = output.lines().rev().find(|line| line.starts_with("test result")).unwrap_or_default();
            println!("{name:32} {:>6.1} s  {end}", time.as_secs_f64());
            if !passed {
                println!("{output}");
                failed.push(name);
            }
        }
        anyhow::Ok(())
    })?;
    let documented = Cargo::new(repository, ["test", "--workspace", "--doc", "--no-fail-fast"]);
    let text = documented.environment(NOT_TRIED, &not_tried).text_of_tests()?;
    if counts.add(&text) > 0 {
        failed.push("documentation".to_owned());
    }
    // A test that runs several times, for example in every way to contain a call, says it each time.
    let notes = fs::read_to_string(&not_tried).unwrap_or_default();
    let notes: BTreeSet<&str> = notes.lines().collect();
    counts.not_tried = notes.into_iter().map(str::to_owned).collect();
    if !failed.is_empty() {
        println!("\n{counts}");
        bail!("tests failed in {}; their output is above", failed.join(", "));
    }
    Ok(counts)
}

fn next(queue: &Mutex<VecDeque<TestBinary>>) -> Option<TestBinary> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

fn one(binary: &TestBinary, environment: &[(&str, String)], not_tried: &Path) -> Result<Run> {
    let began = Instant::now();
    let output = Command::new(&binary.program)
        .current_dir(&binary.folder)
        .env("CARGO_MANIFEST_DIR", &binary.folder)
        .env(NOT_TRIED, not_tried)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{} cannot be started", binary.program.display()))?;
    let text = [output.stdout, output.stderr].map(|stream| String::from_utf8_lossy(&stream).into_owned());
    let passed = output.status.success();
    let mut text = text.concat();
    if !passed && !text.contains("FAILED") {
        text.push_str(&format!("\n{}: {}\n", binary.name, output.status));
    }
    Ok(Run { name: binary.name.clone(), output: text, passed, time: began.elapsed() })
}
