//! The tests of metier-lint that need only its public face.
#![expect(clippy::panic, reason = "a test that cannot go on says so")]

mod examples;
mod mending;
mod registry;
mod robust;
