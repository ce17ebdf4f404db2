//! Tests of the crate as its users see it, in one binary.
#![expect(
    clippy::expect_used,
    reason = "what serves the tests may stop them; clippy only knows test functions"
)]

mod case_file;
mod cases;
mod corpus;
mod invariant;
mod keys;
mod profile;
mod properties;
mod refusal;
mod repair;
mod summary;
