//! The client against servers on loopback and real programs in the real sandbox.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests write files directly, and stop if a fixture fails"
)]

mod hostile_server;
mod invariant;
mod listed;
mod test_machine;
mod threats;
mod trust_property;
mod usage;
