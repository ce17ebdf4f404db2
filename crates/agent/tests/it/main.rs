//! What the crate promises, tried with real files, real programs in the real sandbox and real connections.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests change the disk behind the crate's back, and stop where their fixture fails"
)]

mod approvals;
mod children;
mod compaction;
mod crash;
mod crew;
mod defined_agents;
mod endings;
mod house;
#[path = "../../../definition/tests/it/machine.rs"]
mod machine;
mod memory;
mod outside;
mod resume;
mod resume_children;
mod resume_place;
mod roles;
mod turns;
