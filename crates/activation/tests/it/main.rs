//! Skills' texts, with commands run by real programs in the real sandbox.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests change the disk behind the crate's back, and stop where their fixture fails"
)]

use std::path::PathBuf;

mod activating;
#[allow(dead_code, reason = "shared with the tests of metier-exec")]
#[path = "../../../exec/tests/it/bench.rs"]
mod bench;
mod injecting;
mod render_invariant;
mod rendering;

/// The program that contains what the tests run.
fn helper() -> PathBuf {
    metier_testkit::example("activate_skill")
}
