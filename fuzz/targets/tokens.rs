//! Any bytes as tokens of a shell: they cover the text in order, and passing over some of them breaks nothing.
#![no_main]

#[path = "../../crates/shell/tests/it/invariant.rs"]
mod invariant;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| invariant::holds(bytes));
