//! Broken frontmatter: what is offered as a fix leaves a file that reads the same and needs no fix.
#![no_main]

#[path = "../../crates/skill/tests/it/invariant.rs"]
#[allow(dead_code, reason = "each target holds some of the invariants")]
mod invariant;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    invariant::fixes_are_sound(bytes);
    // The same bytes as a frontmatter, so that most inputs get as far as the values.
    let mut framed = b"---\nname: x\ndescription: y\n".to_vec();
    framed.extend_from_slice(bytes);
    framed.extend_from_slice(b"\n---\n# X\n");
    invariant::parsing_answers(&framed);
    invariant::fixes_are_sound(&framed);
});
