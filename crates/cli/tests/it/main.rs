//! Runs of the real binary: few, and each shows what a user would see.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests start the program, look at what it wrote, and fail loudly"
)]

mod binary;
mod bundled;
mod call;
mod catalog;
mod check;
mod conformance;
mod crew;
mod declared;
mod doctor;
mod examples;
mod exec;
mod explain;
mod hostile;
mod init;
mod joined;
mod list;
mod mcp;
mod models;
mod needs;
mod new;
mod plugin;
mod prepare;
mod reference;
mod route;
mod run;
mod runs;
mod secret;
mod seeds;
mod show;
mod toggle;
mod tools;
mod trust;
mod typist;
mod usage;
mod use_skill;
mod watch;
