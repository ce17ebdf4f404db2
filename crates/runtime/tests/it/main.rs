//! What the crate promises, tried with real programs in the real sandbox.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests change the disk behind the crate's back, and stop where their fixture fails"
)]

use std::path::PathBuf;

mod by_program;
mod changing;
mod guarded;
mod hot_path;
mod library;
mod surfaces;
mod tools;

/// The program that contains what the tests run.
fn helper() -> PathBuf {
    metier_testkit::example("agent_loop")
}
