//! Any bytes as an export: taken whole or not at all, and what was taken goes through another store unchanged.
#![no_main]

#[path = "../../crates/store/tests/it/invariant.rs"]
mod invariant;

use libfuzzer_sys::fuzz_target;

/// Longer files are the same lines again.
const MAX_BYTES: usize = 4_000;

fuzz_target!(|bytes: &[u8]| {
    if bytes.len() <= MAX_BYTES {
        invariant::holds(bytes);
    }
});
