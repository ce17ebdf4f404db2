//! What the crate promises, tried with real programs in the real sandbox.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests change the disk behind the crate's back, and stop where their fixture fails"
)]

mod activating;
mod bench;
mod by_program;
mod changing;
mod commands;
mod guarded;
mod hot_path;
mod injecting;
mod library;
mod network;
mod prepare;
mod programs;
mod registry;
mod render_invariant;
mod rendering;
mod requirements;
mod scripts;
mod surfaces;
mod tools;
mod wanting;
