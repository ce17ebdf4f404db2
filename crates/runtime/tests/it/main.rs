//! What the crate promises, tried with real programs in the real sandbox.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests change the disk behind the crate's back, and stop where their fixture fails"
)]

mod bench;
mod commands;
mod guarded;
mod network;
mod prepare;
mod programs;
mod registry;
mod requirements;
mod scripts;
mod surfaces;
mod tools;
mod wanting;
