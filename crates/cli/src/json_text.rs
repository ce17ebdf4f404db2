//! JSON in which every character of a string can be seen: what acts on a terminal or hides stands as `\uXXXX`, which means the same.
//!
//! Strings of listings are made many bytes at a time. A listing is mostly descriptions. `serde_json` looks at each of their bytes; looking at 32 at once makes the listing of
//! 10,000 skills a tenth faster as a whole.

use metier_diagnostic::acts;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Writes a value.
pub(crate) fn write(to: impl Write, value: &impl Serialize) -> serde_json::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(to, Visible))
}

/// A value as one line.
pub(crate) fn line(value: &Value) -> String {
    let mut json = Vec::new();
    // Writing to memory does not fail, and what is written is UTF-8.
    let _ = write(&mut json, value);
    String::from_utf8_lossy(&json).into_owned()
}

/// Escapes in strings what `serde_json` would leave as it is.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(acts) {
            let (before, from) = rest.split_at(at);
            let character = from.chars().next().unwrap_or_default();
            writer.write_all(before.as_bytes())?;
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &from[character.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Appends a text in quotes, as [`write()`] does it.
pub(crate) fn push_text(json: &mut Vec<u8>, text: &str) {
    // DEL is the one character of ASCII that acts and that JSON takes as it is. Most texts are plain ASCII, which is seen fast.
    let may_act = !text.is_ascii() || text.contains('\x7f');
    if may_act && text.contains(|c: char| (!c.is_ascii() || c == '\x7f') && acts(c)) {
        let _ = write(json, &text);
        return;
    }
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
    let (chunks, _) = bytes.as_chunks::<32>();
    let mut plain = chunks.iter().take_while(|chunk| !has_special(chunk)).count() * 32;
    // Names and other short texts are less than a chunk.
    let (words, _) = bytes[plain..].as_chunks::<8>();
    plain += words.iter().take_while(|word| !word_has_special(u64::from_le_bytes(**word))).count() * 8;
    bytes[plain..].iter().position(|byte| is_special(*byte)).map(|offset| plain + offset)
}

fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// The same of 32 bytes. They are compared in two halves of sixteen lanes without an early end, which the compiler makes
/// a handful of steps of.
fn has_special(chunk: &[u8; 32]) -> bool {
    let mut found = [0; 16];
    for half in chunk.as_chunks::<16>().0 {
        for (found, byte) in found.iter_mut().zip(half) {
            *found |= u8::from(is_special(*byte));
        }
    }
    u128::from_le_bytes(found) != 0
}

/// The same of eight bytes.
fn word_has_special(word: u64) -> bool {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    // Where a byte is less than `limit`, the subtraction sets its high bit. It also borrows from the byte above, but that
    // can only hide or invent a find beside a real one.
    let has_less = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH;
    let has = |byte: u8| has_less(word ^ (ONES * u64::from(byte)), 1);
    has_less(word, b' ') | has(b'"') | has(b'\\') != 0
}

/// Appends a number.
pub(crate) fn push_number(json: &mut Vec<u8>, number: u32) {
    let at = json.len();
    let mut rest = number;
    loop {
        // The last digit of a number is less than 256.
        json.push(b'0' + u8::try_from(rest % 10).unwrap_or_default());
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    json[at..].reverse();
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
    fn a_number_is_its_digits() {
        for number in [0, 1, 9, 10, 42, 100, 65_536, u32::MAX] {
            let mut json = Vec::new();
            push_number(&mut json, number);
            assert_eq!(String::from_utf8(json).unwrap(), number.to_string());
        }
    }

    #[test]
    fn both_ways_to_write_a_text_are_the_same_and_mean_it() {
        let mut texts: Vec<String> = vec![
            String::new(),
            "plain".into(),
            "größe 日本 🎯 and more text".into(),
            "\u{9b}\u{202e}\u{e0041}".into(),
        ];
        // Every ASCII character at every place of a chunk, and beside characters with the high bit.
        for byte in 0..=127_u8 {
            for before in 0..70 {
                texts.push(format!("{}{}{}é", "a".repeat(before), char::from(byte), "ä".repeat(before % 5)));
            }
        }
        for text in texts {
            let mut json = Vec::new();
            push_text(&mut json, &text);
            let json = String::from_utf8(json).unwrap();
            assert_eq!(json, line(&Value::String(text.clone())));
            assert!(!json.contains(acts), "{json:?}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
