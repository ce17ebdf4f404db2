//! Any bytes as an export: taken whole or not at all, and what was taken goes through another store unchanged.
//!
//! The bytes are tried as they are, and once more in a frame that fits: a line is then an event, its type, a blank and its
//! data, or a record of the memory, beginning with a curly bracket. Counts and numbers are found by no fuzzer.
#![no_main]

#[path = "../../crates/store/tests/it/invariant.rs"]
mod invariant;

use libfuzzer_sys::fuzz_target;

/// Longer files are the same lines again.
const MAX_BYTES: usize = 4_000;

const SESSION: &str = "01hzzzzzzzaaaaaaaaaaaaaaa1";

fuzz_target!(|bytes: &[u8]| {
    if bytes.len() > MAX_BYTES {
        return;
    }
    invariant::holds(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        invariant::holds(framed(text).as_bytes());
    }
});

/// The lines with everything around them that an export has.
fn framed(text: &str) -> String {
    let (records, events): (Vec<&str>, Vec<&str>) =
        text.lines().filter(|line| !line.is_empty()).partition(|line| line.starts_with('{'));
    let sessions = usize::from(!events.is_empty());
    let mut lines = format!(
        "{{\"metier\":\"store\",\"version\":1,\"sessions\":{sessions},\"records\":{}}}\n",
        records.len()
    );
    if sessions > 0 {
        lines += &format!("{{\"session\":\"{SESSION}\",\"events\":{}}}\n", events.len());
    }
    for (index, event) in events.iter().enumerate() {
        let (kind, data) = event.split_once(' ').unwrap_or((event, "{}"));
        lines += &format!("{{\"seq\":{},\"at\":{index},\"type\":\"{kind}\",\"data\":{data}}}\n", index + 1);
    }
    for record in records {
        lines += &format!("{{\"record\":{record}}}\n");
    }
    lines
}
