//! Any text as the file of an agent or a crew: it is read in each of the formats, and every place of a finding is in the text.
#![no_main]

#[path = "../../crates/definition/tests/it/definition_invariant.rs"]
mod definition_invariant;

use libfuzzer_sys::fuzz_target;

/// Longer files are the same keys again.
const MAX_BYTES: usize = 4_000;

fuzz_target!(|text: &str| {
    if text.len() <= MAX_BYTES {
        definition_invariant::holds(text);
    }
});
