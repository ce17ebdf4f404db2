//! One look at all bytes of a frontmatter before anything else. The loops have no early end, so that the compiler can
//! look at many bytes at once.

/// Which kinds of bytes there are.
pub(super) struct Survey {
    /// A control character, tabs included.
    has_control: bool,
    has_carriage_return: bool,
    /// A byte with which odd characters begin.
    is_suspicious: bool,
}

impl Survey {
    pub(super) fn of(text: &str) -> Self {
        // Most texts are plain ASCII in lines, and to see that takes a third of the time.
        let is_unusual = |byte: u8| (byte < b' ' && byte != b'\n') || byte >= 0x7f;
        if text.bytes().fold(0, |found, byte| found | u8::from(is_unusual(byte))) == 0 {
            return Self { has_control: false, has_carriage_return: false, is_suspicious: false };
        }
        let mut found = (0_u8, 0_u8, 0_u8);
        for byte in text.bytes() {
            let is_break = matches!(byte, b'\n' | b'\r');
            found.0 |= u8::from((byte < b' ' && !is_break) || byte == 0x7f);
            found.1 |= u8::from(byte == b'\r');
            found.2 |= u8::from(byte == 0xc2 || byte == 0xe2 || byte == 0xef || byte >= 0xf0);
        }
        Self { has_control: found.0 != 0, has_carriage_return: found.1 != 0, is_suspicious: found.2 != 0 }
    }

    /// Whether every character is one that all YAML implementations treat alike.
    pub(super) fn is_plain(&self, text: &str) -> bool {
        let has_odd_break = self.has_carriage_return && has_lone_carriage_return(text);
        let has_odd_character =
            self.is_suspicious && may_have_odd(text.as_bytes()) && text.chars().any(is_odd);
        !self.has_control && !has_odd_break && !has_odd_character
    }
}

fn has_lone_carriage_return(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
}

/// Whether the bytes could spell a character that [`is_odd`]. Dashes and quotes begin with the same byte as some of
/// those and stand in every third description, so three bytes are looked at before characters are.
#[expect(clippy::needless_bitwise_bool, reason = "without branches the compiler looks at many bytes at once")]
fn may_have_odd(bytes: &[u8]) -> bool {
    let (second, third) = (bytes.get(1..).unwrap_or_default(), bytes.get(2..).unwrap_or_default());
    let triples = bytes.iter().zip(second).zip(third);
    let found = triples.fold(0, |found, ((first, second), third)| {
        let is_control = (*first == 0xc2) & (*second < 0xa0);
        let is_separator = (*first == 0xe2) & (*second == 0x80) & (*third & 0xfe == 0xa8);
        let is_mark = (*first == 0xef) & ((*second == 0xb7) | (*second == 0xbb) | (*second == 0xbf));
        let is_last_of_plane = (*first >= 0xf0) & (*third == 0xbf);
        found | u8::from(is_control | is_separator | is_mark | is_last_of_plane)
    });
    // A character of two bytes at the end is in no triple.
    found != 0 || matches!(bytes, [.., 0xc2, _])
}

/// C1 controls, line and paragraph separators, byte order marks, non-characters.
fn is_odd(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
        || (u32::from(c) & 0xfffe) == 0xfffe
        || ('\u{fdd0}'..='\u{fdef}').contains(&c)
}

/// Whether one of two bytes is in a text.
pub(super) fn has_any(text: &str, one: u8, other: u8) -> bool {
    text.bytes().fold(0, |found, byte| found | u8::from(byte == one) | u8::from(byte == other)) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_odd_character_is_seen_by_its_bytes_and_few_others_are() {
        let mut suspected = 0;
        for c in ('\u{80}'..=char::MAX).filter(|c| !c.is_ascii()) {
            for text in [format!("{c}"), format!("ab{c}"), format!("{c}yz")] {
                let may = may_have_odd(text.as_bytes());
                assert!(may || !is_odd(c), "{c:?} in {text:?}");
                suspected += usize::from(may && !is_odd(c));
            }
        }
        // Of more than three million texts, only those with neighbours of an odd character cost a closer look.
        assert!(suspected < 100_000, "{suspected}");
        for common in ["— “quoted” – it’s …", "größe · 日本語 🎯 ✅"] {
            assert!(!may_have_odd(common.as_bytes()), "{common}");
        }
    }
}
