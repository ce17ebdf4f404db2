//! The architecture, held by tests: who may depend on whom, which foreign crate lives where, how sources are named
//! and what they may not contain.
//!
//! Each module is one rule: a pure function from plain data to a list of problems, a test that feeds it the real
//! workspace, and tests that show that it can fail. A problem is a sentence that names the place and what to do.
//! Whoever changes a rule on purpose changes the table at the top of its module.
#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot read the workspace has nothing better to do than to stop, and what it reads is ours"
)]

mod banned;
mod denied;
mod documents;
mod duplicates;
mod edges;
mod findings;
mod foreign;
mod licences;
mod limits;
mod manifests;
mod names;
mod purity;
mod size;
mod spdx;
mod terminal;
mod unused;
mod workspace;

/// Fails with one problem a line.
#[track_caller]
fn none(problems: &[String]) {
    assert!(problems.is_empty(), "\n  {}\n", problems.join("\n  "));
}
