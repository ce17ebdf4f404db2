//! The catalogue over real folders, by topic.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests stop the test, as tests do")]

mod budget;
mod bundled;
mod collisions;
mod config_invariant;
mod config_property;
mod discovery;
mod explain;
mod layout;
mod links;
mod machine;
mod search;
mod switches;
mod trust;
mod versions;
mod watch;
