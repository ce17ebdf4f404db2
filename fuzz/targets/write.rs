//! Edits of a frontmatter: one key changes, everything else stays, and every text reads back.
#![no_main]

#[path = "../../crates/skill/tests/it/invariant.rs"]
#[allow(dead_code, reason = "each target holds some of the invariants")]
mod invariant;

use libfuzzer_sys::fuzz_target;

/// Keys that the seeds have, and one that they do not.
const KEYS: [&str; 6] = ["name", "description", "license", "metadata", "tags", "new-key"];

// The input is a value, a NUL, and a file or the keys of one. Its length chooses the key.
fuzz_target!(|input: &str| {
    let (value, source) = input.split_once('\0').unwrap_or((input, input));
    let key = KEYS[input.len() % KEYS.len()];
    invariant::a_scalar_reads_back(value);
    if source.contains("---") {
        invariant::editing_changes_one_key(source, key, value);
    } else {
        invariant::editing_changes_one_key(&format!("---\n{source}\n---\nbody\n"), key, value);
    }
});
