//! Edits of a frontmatter: one key changes, everything else stays, and every text reads back.
#![no_main]

#[path = "../../crates/skill/tests/it/invariant.rs"]
#[allow(dead_code, reason = "each target holds some of the invariants")]
mod invariant;

use libfuzzer_sys::fuzz_target;

/// Keys that the seeds have, and one that they do not.
const KEYS: [&str; 6] = ["name", "description", "license", "metadata", "tags", "new-key"];

// The input is a value, a NUL, and a file.
fuzz_target!(|input: &str| {
    let (value, source) = input.split_once('\0').unwrap_or((input, input));
    invariant::a_scalar_reads_back(value);
    let framed = format!("---\n{source}\n---\nbody\n");
    for key in KEYS {
        invariant::editing_changes_one_key(source, key, value);
        invariant::editing_changes_one_key(&framed, key, value);
    }
});
