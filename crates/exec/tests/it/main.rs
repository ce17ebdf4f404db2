//! Scripts and command lines, run with real programs in the real sandbox.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests change the disk behind the crate's back, and stop where their fixture fails"
)]

use std::path::PathBuf;

mod bench;
mod commands;
mod network;
mod prepare;
mod programs;
mod registry;
mod requirements;
mod scripts;
mod wanting;

/// The program that contains what the tests run.
fn helper() -> PathBuf {
    metier_testkit::example("run_script")
}
