//! What the planner answers, tried with the skills of the program and with skills of a test's own.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests stop where their fixture fails, and name their own folders"
)]

mod planner;
