//! Everything a change has to pass, in the order in which a failure is cheapest to find.
//!
//! Without `--all` it needs nothing but crates, and is meant for every change. With it come the peers: the official suites, validators
//! and SDKs of others, and the installations that users make.

mod binaries;
mod counts;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::cargo::Cargo;
use crate::docs;
use crate::installation;
use crate::interop;
use crate::repository::Repository;
use crate::summary::{Outcome, Summary};
use crate::system;
use crate::tool::Tool;
use crate::validator;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Also run what needs packages of others or takes long, as continuous integration does
    #[arg(long)]
    all: bool,
    /// Run one step alone, such as `installation`
    #[arg(long, value_name = "STEP", conflicts_with = "all", value_parser = step_names())]
    only: Option<String>,
    /// Install the system packages that the tests need
    #[arg(long)]
    install_system: bool,
}

/// One thing to pass.
struct Step {
    name: &'static str,
    scope: Scope,
    action: fn(&Repository) -> Result<Outcome>,
}

/// Which runs a step is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Every,
    /// Runs with `--all`.
    All,
}

const STEPS: &[Step] = &[
    Step { name: "format", scope: Scope::Every, action: format },
    Step { name: "lints and tests", scope: Scope::Every, action: tests },
    Step { name: "generated pages", scope: Scope::Every, action: pages },
    Step { name: "dependencies", scope: Scope::All, action: dependencies },
    Step { name: "rustdoc", scope: Scope::All, action: rustdoc },
    Step { name: "standard's validator", scope: Scope::All, action: validator::compare },
    Step { name: "MCP conformance", scope: Scope::All, action: interop::conformance },
    Step { name: "MCP Python SDK", scope: Scope::All, action: interop::python },
    Step { name: "installation", scope: Scope::All, action: installation::check },
];

/// Workspaces of their own, beside the main one. Their builds need more than the tests do, their format does not.
const SATELLITES: &[&str] = &["benches", "fuzz"];

pub(crate) fn run(repository: &Repository, arguments: &Arguments) -> Result<()> {
    if arguments.install_system {
        system::install()?;
    } else {
        system::name_missing();
    }
    let repository = &repository.with_lints();
    let mut summary = Summary::default();
    let is_chosen = |step: &&Step| match &arguments.only {
        Some(name) => step.name == name,
        None => arguments.all || step.scope == Scope::Every,
    };
    for step in STEPS.iter().filter(is_chosen) {
        if let Some(failed) = summary.failed() {
            let reason = format!("stopped after {failed}");
            summary.push(step.name, Outcome::NotRun(reason), Duration::ZERO);
            continue;
        }
        println!("\n== {} ==", step.name);
        let started = Instant::now();
        let outcome = (step.action)(repository).unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            Outcome::Failed
        });
        if let Outcome::NotRun(reason) = &outcome {
            println!("not run: {reason}");
        }
        summary.push(step.name, outcome, started.elapsed());
    }
    println!("\n{}\n{summary}", corpus(repository));
    match summary.failed() {
        Some(step) => bail!("`{step}` failed; what it found is above, under its heading"),
        None => Ok(()),
    }
}

fn step_names() -> Vec<&'static str> {
    STEPS.iter().map(|step| step.name).collect()
}

fn format(repository: &Repository) -> Result<Outcome> {
    Cargo::new(repository, ["fmt", "--all", "--", "--check"]).show()?;
    for satellite in SATELLITES {
        let manifest = repository.root().join(satellite).join("Cargo.toml");
        if manifest.is_file() {
            Cargo::new(repository, ["fmt", "--manifest-path"])
                .argument(manifest)
                .arguments(&["--", "--check"])
                .show()?;
        }
    }
    Ok(Outcome::Passed)
}

fn tests(repository: &Repository) -> Result<Outcome> {
    Ok(Outcome::Counted(binaries::run(repository)?.to_string()))
}

fn pages(repository: &Repository) -> Result<Outcome> {
    docs::check(repository)?;
    Ok(Outcome::Passed)
}

/// Links in the documentation of private items are read by the people who work here, so they are checked too.
fn rustdoc(repository: &Repository) -> Result<Outcome> {
    Cargo::new(repository, ["doc", "--workspace", "--no-deps", "--document-private-items"])
        .environment("RUSTDOCFLAGS", "-D warnings")
        .show()?;
    Ok(Outcome::Passed)
}

/// Advisories are left out: they need a database from the network, and a test has to work without one. The tests of this crate hold
/// licences, bans and duplicates, too; cargo-deny is the second opinion.
fn dependencies(repository: &Repository) -> Result<Outcome> {
    let deny = Tool::new(repository, "deny")?;
    if !deny.is_installed(repository)? {
        return Ok(Outcome::NotRun("cargo-deny is missing: `cargo install --locked cargo-deny`".to_owned()));
    }
    deny.command(repository, None, &["check", "licenses", "bans", "sources"])?.show()?;
    Ok(Outcome::Passed)
}

/// Whether the tests over real files can run: a green table without them says less.
fn corpus(repository: &Repository) -> &'static str {
    if repository.corpus().is_dir() {
        "../shared/corpus is there: the tests over real files run"
    } else {
        "../shared/corpus is not there: the tests over real files do not run"
    }
}
