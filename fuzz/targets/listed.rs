//! What an MCP server lists and what it then gives: an entry of its list as JSON, a NUL, and the file that is said to be its
//! `SKILL.md`.
#![no_main]

#[path = "../../crates/mcp-client/tests/it/invariant.rs"]
mod invariant;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let (Some(entry), file) = (parts.next(), parts.next().unwrap_or_default()) else { return };
    let Ok(entry) = serde_json::from_slice::<Value>(entry) else { return };
    invariant::entry_holds(&entry);
    if let Some(listed) = entry.get("frontmatter").and_then(Value::as_object) {
        invariant::comparison_holds(file, listed);
    }
});
