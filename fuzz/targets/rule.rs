//! Any two texts as rules and a third as an action: what a rule allows it can deny, and what covers another means more.
//!
//! The input is three lines; the whole of it is also read as another client's file of rules.
#![no_main]

#[path = "../../crates/policy/tests/it/rule_invariant.rs"]
mod rule_invariant;

use libfuzzer_sys::fuzz_target;

/// Longer texts take the fuzzer's time for building what matches them.
const MAX_BYTES: usize = 400;

fuzz_target!(|text: &str| {
    if text.len() > MAX_BYTES {
        return;
    }
    rule_invariant::file_holds(text);
    let mut lines = text.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (first, second, action) = (next(), next(), next());
    rule_invariant::holds(first, second, action);
});
