//! Integration tests with real files, real sessions, real programs in the real sandbox and real connections.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests change the disk behind the crate's back, and stop where their fixture fails"
)]

mod ask_memory;
mod bash;
mod read_search;
mod security;
mod server;
mod test_session;
mod web_fetch;
mod write_edit;
