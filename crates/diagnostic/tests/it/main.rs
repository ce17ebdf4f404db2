//! What the views promise, held against those who read them: the SARIF schema, git, and arbitrary input.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests start git and cargo, read what they say, and stop where a fixture fails"
)]

mod patch;
mod properties;
mod sarif;
mod schema;
