//! Runs of the real binary: few, and each shows what a user would see.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests start the program, look at what it wrote, and fail loudly"
)]

mod agent_servers;
mod agents;
mod beside;
mod binary;
mod bundled;
mod call;
mod catalog;
mod chat;
mod check;
mod children;
mod conformance;
mod crew;
mod declared;
mod doctor;
mod examples;
mod exec;
mod explain;
mod forget;
mod hostile;
mod init;
mod joined;
mod list;
mod mcp;
mod model_server;
mod models;
mod needs;
mod new;
mod plugin;
mod prepare;
mod reference;
mod resume;
mod route;
mod run;
mod runs;
mod secret;
mod seeds;
mod servers;
mod show;
mod stand_in;
mod stats;
mod toggle;
mod tools;
mod trust;
mod typist;
mod usage;
mod use_skill;
mod watch;
