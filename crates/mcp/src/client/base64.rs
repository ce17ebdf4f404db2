//! Bytes of a file that is no text, as servers send them.

/// Reads standard base64 with its padding. Strict: one text for each sequence of bytes, so that nothing can be said in two ways.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let last = text.len().saturating_sub(4);
    for (at, four) in text.chunks_exact(4).enumerate() {
        let padding = if at * 4 == last { padding } else { 0 };
        let mut bits = 0_u32;
        for (place, byte) in four.iter().enumerate() {
            let value = if place >= 4 - padding { 0 } else { value(*byte)? };
            bits = (bits << 6) | value;
        }
        let [_, first, second, third] = bits.to_be_bytes();
        let whole = [first, second, third];
        let (kept, cut) = whole.split_at(3 - padding);
        if cut.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(kept);
    }
    Some(bytes)
}

fn value(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_text_for_each_sequence_of_bytes() {
        for (text, expect) in [
            ("", Some(&b""[..])),
            ("Zg==", Some(b"f")),
            ("Zm8=", Some(b"fo")),
            ("Zm9v", Some(b"foo")),
            ("Zm9vYmFy", Some(b"foobar")),
            ("//79", Some(b"\xff\xfe\xfd")),
            ("Zh==", None),
            ("Zg=", None),
            ("Zg", None),
            ("Z===", None),
            ("====", None),
            ("Zg==Zg==", None),
            ("Zm9v\n", None),
            ("Zm-_", None),
            ("Zm 9", None),
        ] {
            assert_eq!(decode(text).as_deref(), expect, "{text:?}");
        }
    }
}
