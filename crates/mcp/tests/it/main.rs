//! What the crate promises, tried with servers of our own on loopback, over the wire, and real programs in the real sandbox.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests change the disk behind the crate's back, and stop where their fixture fails"
)]

mod client_invariant;
mod client_scene;
mod client_threats;
mod client_use;
mod hostile;
mod invariant;
mod server;
mod trust_property;
