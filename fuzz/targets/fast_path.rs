//! The fast path against the full parser: it declines, or says the same.
#![no_main]

#[path = "../../crates/skill/tests/it/invariant.rs"]
#[allow(dead_code, reason = "each target holds some of the invariants")]
mod invariant;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    invariant::both_parsers_agree(text);
});
