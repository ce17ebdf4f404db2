//! Any body with any arguments and any output of its commands: no byte of a value is interpreted.
//!
//! The input is a body, what its commands write, and arguments, with a NUL between each.
#![no_main]

#[path = "../../crates/activation/tests/it/render_invariant.rs"]
mod render_invariant;

use libfuzzer_sys::fuzz_target;

/// Longer bodies take the fuzzer's time and bring nothing that shorter ones lack.
const MAX_BYTES: usize = 1_000;

fuzz_target!(|text: &str| {
    if text.len() > MAX_BYTES {
        return;
    }
    let mut parts = text.split('\0');
    let mut next = || parts.next().unwrap_or_default().to_owned();
    let (body, output) = (next(), next());
    let arguments: Vec<String> = parts.map(str::to_owned).collect();
    render_invariant::holds(&body, &arguments, &output);
});
