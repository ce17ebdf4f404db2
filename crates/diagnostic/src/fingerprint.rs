//! How the same finding is known again in another version of its file.

use crate::Diagnostic;
use std::collections::HashMap;

/// Fingerprints for the diagnostics of one run, given in their order.
///
/// One is made of the code, the file and the text of the line, not of the line's number, so that edits elsewhere in the
/// file leave it alone. Findings that are alike in all of it are numbered.
#[derive(Default)]
pub(crate) struct Fingerprints {
    seen: HashMap<u64, u32>,
}

impl Fingerprints {
    /// The fingerprint of the next diagnostic: sixteen hexadecimal digits and its number among its likes.
    pub(crate) fn next(&mut self, diagnostic: &Diagnostic, uri: &str, source: Option<&str>) -> String {
        let line = diagnostic.place.zip(source).and_then(|(place, source)| {
            let start = place.span.start as usize;
            let before = source.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
            source[before..].lines().next()
        });
        // Without a line the message is what tells two findings of one code in one file apart.
        let text = line.unwrap_or(&diagnostic.message).trim();
        let hash = fnv1a(&[diagnostic.code.name(), uri, text]);
        let number = self.seen.entry(hash).and_modify(|number| *number += 1).or_insert(1);
        format!("{hash:016x}:{number}")
    }
}

/// FNV-1a in 64 bits. The standard library's hashes may change from one version to the next; these must not.
fn fnv1a(parts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        // A byte that no UTF-8 text contains stands behind each part, so that no two lists of parts run together.
        for byte in part.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, Severity, Span};

    static ODD: Code = Code::new("odd", Severity::Warning, "Odd.");

    fn fingerprint(source: &str, word: &str) -> String {
        let at = source.find(word).expect("the word is there");
        let found = Diagnostic::new(&ODD, "odd").at(Span::new(at, at + word.len()), source);
        Fingerprints::default().next(&found, "a/SKILL.md", Some(source))
    }

    #[test]
    fn edits_elsewhere_leave_it_and_edits_of_the_line_change_it() {
        let first = fingerprint("---\nname: X\n", "X");
        assert_eq!(fingerprint("---\nlicense: MIT\n  name: X\r\nmore\n", "X"), first);
        assert_ne!(fingerprint("---\nname: Xy\n", "X"), first);
    }

    #[test]
    fn it_is_the_same_for_ever() {
        assert_eq!(fnv1a(&[]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint("---\nname: X\n", "X"), "bd27dd55b86f0d48:1");
        assert_ne!(fnv1a(&["ab", "c"]), fnv1a(&["a", "bc"]));
    }

    #[test]
    fn likes_are_numbered() {
        let found = Diagnostic::new(&ODD, "odd");
        let mut fingerprints = Fingerprints::default();
        let first = fingerprints.next(&found, "a", None);
        let second = fingerprints.next(&found, "a", None);
        assert_eq!(second, first.replace(":1", ":2"));
        assert!(fingerprints.next(&found, "b", None).ends_with(":1"));
    }
}
