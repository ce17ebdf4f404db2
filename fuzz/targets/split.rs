//! The splitter against a second one that only has to be obvious.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::ops::Range;

fuzz_target!(|bytes: &[u8]| {
    let found = metier_skill::split(bytes);
    assert_eq!(found, obvious(bytes));
    if let Some((yaml, body)) = found {
        assert!(yaml.start <= yaml.end && yaml.end < body && body <= bytes.len());
    }
});

/// By lines: the first is `---` and blanks, the next that is exactly `---` or `...` closes.
fn obvious(bytes: &[u8]) -> Option<(Range<usize>, usize)> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let first = lines.next()?;
    let opening = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).strip_prefix(b"---")?;
    if !opening.trim_ascii().is_empty() {
        return None;
    }
    let mut at = first.len();
    for line in lines {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if matches!(text.strip_suffix(b"\r").unwrap_or(text), b"---" | b"...") {
            return Some((first.len()..at, at + line.len()));
        }
        at += line.len();
    }
    None
}
