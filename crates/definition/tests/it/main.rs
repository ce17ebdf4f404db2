//! What the crate promises, tried with real files.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests change the disk behind the crate's back, and stop where their fixture fails"
)]

mod definition_invariant;
mod definitions;
mod machine;
