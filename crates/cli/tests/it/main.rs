//! Runs of the real binary: few, and each shows what a user would see.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests start the program, look at what it wrote, and fail loudly"
)]

mod agent_edits;
mod agent_servers;
mod agents;
mod approvals;
mod beside;
mod binary;
mod bundled;
mod call;
mod catalog;
mod change_events;
mod change_tree;
mod changed_entries;
mod chat;
mod check;
mod children;
mod conflicts;
mod conformance;
mod crew;
mod declared;
mod doctor;
mod examples;
mod exec;
mod exit_codes;
mod explain;
mod forget;
mod hostile;
mod init;
mod interrupted_apply;
mod joined;
mod list;
mod mcp;
mod model_server;
mod models;
mod needs;
mod new;
mod opens;
mod ordinary_user;
mod other_mounts;
mod plugin;
mod prepare;
mod printed_rules;
mod printed_text;
mod project_changes;
mod protected_places;
mod questions;
mod quiet_git;
mod read_once;
mod reference;
mod refusals;
mod refused_apply;
mod resume;
mod route;
mod run;
mod runs;
mod secret;
mod seeded_random;
mod seeds;
mod servers;
mod settings;
mod show;
mod stand_in;
mod stats;
mod toggle;
mod tools;
mod trust;
mod typed_paths;
mod typist;
mod undo;
mod usage;
mod use_skill;
mod watch;
