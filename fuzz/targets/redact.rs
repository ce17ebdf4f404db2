//! Any secrets in any text, in any pieces: none of the ways of writing one is shown, and pieces change nothing.
//!
//! The input is up to three secrets, what stands before and what behind, with a NUL between each, and bytes that say where
//! the text is cut.
#![no_main]

#[path = "../../crates/secret/tests/it/invariant.rs"]
mod invariant;

use libfuzzer_sys::fuzz_target;

/// Longer secrets take the fuzzer's time for building what looks for them.
const MAX_BYTES: usize = 200;

fuzz_target!(|bytes: &[u8]| {
    if bytes.len() > MAX_BYTES {
        return;
    }
    let mut parts = bytes.splitn(6, |byte| *byte == 0);
    let mut next = || parts.next().unwrap_or_default();
    let cuts: Vec<usize> = next().iter().map(|byte| usize::from(*byte)).collect();
    let (before, after) = (next(), next());
    let values: Vec<String> = (0..3)
        .filter_map(|_| String::from_utf8(next().to_vec()).ok())
        .filter(|value| !value.is_empty())
        .collect();
    invariant::holds(&values, [before, after], &cuts);
});
