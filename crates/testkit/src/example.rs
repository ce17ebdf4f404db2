//! Programs that are built beside the tests.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "fixtures are looked for directly on the disk, and a test without its fixture has to stop"
)]

use std::path::{Path, PathBuf};

/// An example of the crate under test, which cargo builds with the crate's tests.
///
/// # Panics
///
/// Where it was not built.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test.parent().and_then(Path::parent).expect("a test lies in a folder for tests");
    let example = folder.join("examples").join(name);
    assert!(example.exists(), "{} is missing: build the examples first", example.display());
    example
}
