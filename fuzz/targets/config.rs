//! Any text as a configuration: it is read, every place of a finding is in the text, and what is wrong costs no more than itself.
#![no_main]

#[path = "../../crates/catalog/tests/it/config_invariant.rs"]
mod config_invariant;

use libfuzzer_sys::fuzz_target;

/// Longer files are the same sections again.
const MAX_BYTES: usize = 4_000;

fuzz_target!(|text: &str| {
    if text.len() <= MAX_BYTES {
        config_invariant::holds(text);
    }
});
