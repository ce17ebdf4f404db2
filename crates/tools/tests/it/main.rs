//! What the crate promises, tried with real files, real programs in the real sandbox and real connections.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests change the disk behind the crate's back, and stop where their fixture fails"
)]

mod changing;
mod commands;
mod fetching;
mod looking;
mod room;
mod security;
mod server;
mod talking;
