//! Skills of any text, asked for anything: ranks depend on the skills and the request alone.
//!
//! The input is a request and the texts of skills, with a NUL between each.
#![no_main]

#[path = "../../crates/search/tests/it/invariant.rs"]
mod invariant;

use libfuzzer_sys::fuzz_target;

/// Longer texts take the fuzzer's time and bring nothing that shorter ones lack.
const MAX_BYTES: usize = 2_000;

/// More skills bring nothing that a few lack.
const MAX_SKILLS: usize = 8;

fuzz_target!(|text: &str| {
    if text.len() > MAX_BYTES {
        return;
    }
    let mut parts = text.split('\0');
    let request = parts.next().unwrap_or_default();
    let skills: Vec<&str> = parts.take(MAX_SKILLS).collect();
    invariant::holds(&skills, request);
});
