//! The project's own chores, under the names that people and continuous integration share.
//!
//! `cargo xtask test` is everything a change has to pass; `docs` writes the pages that are generated from code;
//! `dist` builds what is shipped; `bench` measures against peers and limits; `findings` tries the security assessment again; `fuzz`
//! runs the fuzz targets; `e2e-model` asks a real model; `crash` kills a working agent; `walk` counts the source files that one run
//! executes. The tests of this crate
//! hold the architecture: who may depend on whom, which foreign crate lives where, how sources are named.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a chore talks to the person at the terminal, starts cargo and writes files of the repository itself"
)]

mod bench;
mod cargo;
mod debug_build;
mod dist;
mod docs;
mod e2e_model;
mod findings;
mod fuzz;
mod inference;
mod installation;
mod interop;
mod last_run;
mod limits;
mod repository;
mod summary;
mod system;
mod test;
mod tool;
mod validator;
mod walk;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::repository::Repository;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The chores of the metier repository")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Run everything a change has to pass
    Test(test::Arguments),
    /// Write the reference pages that are generated from code
    Docs(docs::Arguments),
    /// Build what is shipped: a static program, an archive, a Debian package, a container
    Dist(dist::Arguments),
    /// Measure, and print ratios against peers and limits
    Bench(bench::Arguments),
    /// Show that every finding of the security assessment is closed
    Findings(findings::Arguments),
    /// Run the fuzz targets
    Fuzz(fuzz::Arguments),
    /// Ask a real model on this machine, through everything that metier has for models
    E2eModel(e2e_model::Arguments),
    /// Kill a working agent many times; the tests do it some times
    Crash(last_run::CrashArguments),
    /// Count the source files that one run of the program executes
    Walk(walk::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let repository = Repository::find();
    let result = match &arguments.chore {
        Chore::Test(arguments) => test::run(&repository, arguments),
        Chore::Docs(arguments) => docs::run(&repository, arguments),
        Chore::Bench(arguments) => bench::run(&repository, arguments),
        Chore::Dist(arguments) => dist::run(&repository, arguments),
        Chore::Findings(arguments) => findings::run(&repository, arguments),
        Chore::Fuzz(arguments) => fuzz::run(&repository, arguments),
        Chore::E2eModel(arguments) => e2e_model::run(&repository, arguments),
        Chore::Crash(arguments) => last_run::crash(&repository, arguments),
        Chore::Walk(arguments) => walk::run(&repository, arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
