//! The tests of metier-lint that need only its public face.
#![expect(
    clippy::panic,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so, and one reads real files"
)]

mod corpus;
mod examples;
mod mending;
mod page;
mod registry;
mod robust;
