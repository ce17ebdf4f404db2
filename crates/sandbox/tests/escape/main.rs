//! The escape suite: every attack of `metier-probe` against every tier, as root and as a user without privileges.
//!
//! Each test starts this program again, once per user, with an environment full of secrets and with descriptors left
//! open, because that is how a careless caller would start. The part that was started runs all attacks and prints a
//! table; whatever got through, survived or changed fails it. The controls run the same attacks without a sandbox and
//! demand that they work: an attack that works nowhere shows nothing.
//!
//! It has a `main` of its own, because the sandbox's helper is this very program and must begin without threads.
#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test builds its own ground, starts processes to attack with, and stops when it cannot"
)]

#[cfg(target_os = "linux")]
mod contained;
#[cfg(target_os = "linux")]
mod controls;
#[cfg(target_os = "linux")]
mod folders;
#[cfg(target_os = "linux")]
mod ground;
#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod once;
#[cfg(target_os = "linux")]
mod part;
#[cfg(target_os = "linux")]
mod probes;
#[cfg(target_os = "linux")]
mod reach;
#[cfg(target_os = "linux")]
mod servers;
#[cfg(target_os = "linux")]
mod suite;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod traces;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    metier_sandbox::helper(std::env::args_os());
    if std::env::var_os(once::ONCE).is_some() { once::main() } else { part::main() }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    println!("the attacks are written for Linux; nothing was shown");
    ExitCode::SUCCESS
}
