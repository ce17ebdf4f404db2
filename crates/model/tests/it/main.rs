//! Models over real sockets: every protocol against a local server, with every fault.

#![expect(clippy::panic, clippy::unwrap_used, reason = "tests stop where their fixture fails")]

mod bodies;
mod cancelling;
mod choosing;
mod decoding;
mod encrypted;
mod faults;
mod invariant;
mod keys;
mod retrying;
mod scripts;
mod server;
mod splitting;
mod stories;
mod untaught;

/// Makes one test of each function for each protocol.
macro_rules! in_every_protocol {
    ($($name:ident),* $(,)?) => {
        mod openai {
            $(#[tokio::test] async fn $name() { super::$name(metier_model::Protocol::OpenAi).await; })*
        }
        mod anthropic {
            $(#[tokio::test] async fn $name() { super::$name(metier_model::Protocol::Anthropic).await; })*
        }
        mod gemini {
            $(#[tokio::test] async fn $name() { super::$name(metier_model::Protocol::Gemini).await; })*
        }
    };
}
pub(crate) use in_every_protocol;
