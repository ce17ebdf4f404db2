//! The program and the examples as the tests build them.
//!
//! cargo builds `--package metier` with the features that metier alone needs, and `--workspace` with those of all crates together. Each
//! has builds of the dependencies of its own, so a run of the tests uses its one build for everything.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use crate::cargo::Cargo;
use crate::repository::Repository;

/// The program, built if it is not there.
pub(crate) fn program(repository: &Repository) -> Result<PathBuf> {
    build(repository, &["build", "--quiet", "--package", "metier"])?;
    Ok(repository.target()?.join("debug").join(format!("metier{}", std::env::consts::EXE_SUFFIX)))
}

/// An example of a package, built if it is not there.
pub(crate) fn example(repository: &Repository, package: &str, name: &str) -> Result<PathBuf> {
    build(repository, &["build", "--quiet", "--package", package, "--example", name])?;
    let examples = repository.target()?.join("debug").join("examples");
    Ok(examples.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// Builds everything during a run of the tests, where that is done already, and else only what is needed.
fn build(repository: &Repository, alone: &[&str]) -> Result<()> {
    let with_tests = ["test", "--quiet", "--workspace", "--no-run"];
    let arguments = if repository.has_lints() { &with_tests } else { alone };
    Cargo::new(repository, arguments).show()
}

/// What a command prints when it ends with 0 or one of these codes; standard error goes to the terminal.
pub(crate) fn printed(command: &mut Command, also: &[i32]) -> Result<String> {
    let Output { status, stdout, .. } = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("{} could not be started", command.get_program().display()))?;
    if !status.success() && !status.code().is_some_and(|code| also.contains(&code)) {
        bail!("{command:?} failed ({status})");
    }
    String::from_utf8(stdout).with_context(|| format!("{command:?} printed something that is not text"))
}
