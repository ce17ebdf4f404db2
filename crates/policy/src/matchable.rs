//! Names of files as text that globs are held against.
//!
//! A name need not be UTF-8, and a glob is text. So each byte that is not UTF-8 becomes one character of a range that nobody
//! uses, and a name that has such a character itself is written byte by byte. No two names become the same text.

use std::borrow::Cow;

/// Bytes from 0x80 on are the characters from here on.
const FIRST: u32 = 0x0010_ff80;

/// The text of a name.
pub(crate) fn matchable(name: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(name)
        && !text.contains(|c| byte_of(c).is_some())
    {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match byte_of(c) {
                Some(_) => text.extend(c.encode_utf8(&mut [0; 4]).bytes().map(character_of)),
                None => text.push(c),
            }
        }
        text.extend(chunk.invalid().iter().copied().map(character_of));
    }
    Cow::Owned(text)
}

/// The name that a text stands for.
pub(crate) fn name_of(text: &str) -> Vec<u8> {
    let mut name = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => name.push(byte),
            None => name.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    name
}

fn character_of(byte: u8) -> char {
    let number = FIRST + u32::from(byte) - 0x80;
    char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn byte_of(c: char) -> Option<u8> {
    let from = u32::from(c).checked_sub(FIRST)?;
    u8::try_from(from + 0x80).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_text_of_its_own() {
        let names: [&[u8]; 7] = [
            b"a/b",
            b"\x80",
            b"\xff\xfe",
            "ü◆".as_bytes(),
            "\u{10ff80}".as_bytes(),
            b"\xf4\x8f\xbe",
            "\u{fffd}".as_bytes(),
        ];
        for name in names {
            assert_eq!(name_of(&matchable(name)), name, "{name:?}");
        }
        assert!(matches!(matchable("ü".as_bytes()), Cow::Borrowed(_)));
        assert_eq!(matchable(b"\x80").chars().count(), 1);
    }
}
