//! What the crate promises, tried on real file systems, with real overlays and real kills.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests change the disk behind the crate's back, and stop where their fixture fails"
)]

mod conflicts;
mod hostile;
mod killed;
mod noise;
mod other_device;
mod session;
mod shown;
mod states;
mod store;
mod support;
mod undo;
