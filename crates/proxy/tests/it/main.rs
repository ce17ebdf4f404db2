//! The proxy, over real sockets on this machine.
//!
//! Names and addresses are stand-ins: a [`town::Town`] says which address a name has and which local server stands behind
//! an address, so public, private and metadata addresses are all tried for real and nothing leaves the machine.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests stop where their fixture fails, say what was not there, and start curl by themselves"
)]

mod asking;
mod curl;
mod life;
mod readers;
mod table;
mod town;
