//! Attacks on the sandbox, one per name.
//!
//! `metier-probe NAME --key value …` tries one attack and says what became of it: exit status 0 and `through: …` when it
//! worked, 10 and `held: …` when something stopped it, 20 and `cannot say: …` when what it needs is not there.
//! `--list` prints the table of all probes, one JSON object a line. `victim` is no attack: it is the process outside
//! that attacks aim at.
//!
//! Every attack is bounded by itself (bytes, count, seconds), goes no further than the loopback device, and does as
//! little as shows that it works. One that could change the machine runs only with `--contained`, which the tests
//! give inside the sandbox and inside namespaces that are thrown away.
#![allow(
    unsafe_code,
    reason = "an attack is a system call with arguments that no safe wrapper would pass; all of it is in `kernel`"
)]
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::exit,
    reason = "a program for tests: it opens what it should not and starts what it likes; that is its work"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::unnecessary_wraps,
    reason = "arguments of raw system calls are words of the machine, and all attacks have one signature"
)]

#[cfg(target_os = "linux")]
mod answer;
#[cfg(target_os = "linux")]
mod arguments;
#[cfg(target_os = "linux")]
mod attacks;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod program;
mod registry;
#[cfg(target_os = "linux")]
mod victim;

#[cfg(target_os = "linux")]
fn main() {
    std::process::exit(registry::run(std::env::args().skip(1).collect()));
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("cannot say: the attacks are written for Linux");
    std::process::exit(20);
}
