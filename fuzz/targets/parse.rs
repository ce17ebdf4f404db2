//! Any bytes: a skill or a reason, every place inside the text, the same answer for a beginning.
#![no_main]

#[path = "../../crates/skill/tests/it/invariant.rs"]
#[allow(dead_code, reason = "each target holds some of the invariants")]
mod invariant;

use libfuzzer_sys::fuzz_target;
use metier_diagnostic::{Paint, render_text};
use metier_skill::{MAX_NAME, injected_commands, parse, slug};

fuzz_target!(|bytes: &[u8]| {
    invariant::parsing_answers(bytes);
    // The first byte chooses how much of the file is read at first.
    let length = bytes.first().map_or(0, |byte| bytes.len() * usize::from(*byte) / 255);
    invariant::a_beginning_agrees(bytes, length);
    let text = String::from_utf8_lossy(bytes);
    let parsed = parse(bytes, None);
    for found in parsed.diagnostics.iter().take(8) {
        assert!(!render_text(found, Some(&text), Paint::Plain).contains('\u{1b}'));
    }
    if let Some(document) = &parsed.document {
        let name = document.manifest.name.as_str();
        assert!(!name.is_empty() && !name.contains(['/', '\\', '\0', '\n']) && !matches!(name, "." | ".."));
    }
    for command in injected_commands(&text) {
        assert!(!command.command.trim().is_empty() && command.span.of(&text).contains(&*command.command));
    }
    assert!(slug(&text).chars().count() <= MAX_NAME);
});
