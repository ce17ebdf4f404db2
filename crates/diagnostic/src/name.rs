//! Names of files as text that is seen whole, can be typed, and means one name when it is read back.

use crate::visible::acts;

/// The name of a file, in which whatever is not seen is an escape: `\u{1b}` for a character, `\xff` for a byte that is not UTF-8,
/// `\\` for a backslash. [`unescaped_name`] reads it back.
///
/// ```
/// use metier_diagnostic::{escaped_name, unescaped_name};
///
/// assert_eq!(escaped_name(b"a\n\xff\\b "), r"a\u{a}\xff\\b\u{20}");
/// assert_eq!(unescaped_name(r"a\u{a}\xff\\b\u{20}"), b"a\n\xff\\b ");
/// ```
pub fn escaped_name(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    // Spaces at the end are not seen, and get lost.
    let end = name.utf8_chunks().last().filter(|last| last.invalid().is_empty());
    let hidden = end.map_or(0, |last| last.valid().len() - last.valid().trim_end().len());
    let shown = name.len() - hidden;
    let mut at = 0;
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => text.push_str(r"\\"),
                c if acts(c) || at >= shown => text.extend(c.escape_unicode()),
                c => text.push(c),
            }
            at += c.len_utf8();
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
        at += chunk.invalid().len();
    }
    text
}

/// The bytes of a name that [`escaped_name`] wrote. Whatever is not one of its escapes means itself.
pub fn unescaped_name(text: &str) -> Vec<u8> {
    let mut name = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        name.extend_from_slice(before.as_bytes());
        rest = if let Some((bytes, after)) = name_escape(escape) {
            name.extend_from_slice(&bytes);
            after
        } else if let Some(after) = escape.strip_prefix(r"\\") {
            name.push(b'\\');
            after
        } else {
            name.push(b'\\');
            &escape[1..]
        };
    }
    name.extend_from_slice(rest.as_bytes());
    name
}

/// The bytes that `\u{…}` or `\x…` at the beginning of a text mean, and what follows.
pub fn name_escape(text: &str) -> Option<(Vec<u8>, &str)> {
    let is_hex = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if let Some((digits, rest)) = text.strip_prefix(r"\u{").and_then(|rest| rest.split_once('}')) {
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex(digits) && digits.len() <= 6)?;
        let c = char::from_u32(number).filter(|c| *c != '\0')?;
        return Some((c.encode_utf8(&mut [0; 4]).as_bytes().to_vec(), rest));
    }
    let rest = text.strip_prefix(r"\x")?;
    let (digits, after) = rest.split_at_checked(2).filter(|(digits, _)| is_hex(digits))?;
    let byte = u8::from_str_radix(digits, 16).ok().filter(|byte| *byte != 0)?;
    Some((vec![byte], after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        let names: [&[u8]; 9] = [
            b"plain",
            b"\x80",
            b"a\xc3",
            "grüße ◆\u{200b}".as_bytes(),
            b" a ",
            "x\u{3000}\u{a0}".as_bytes(),
            br"\x41\u{41}\\",
            b"a \xff",
            b"\r\n\t",
        ];
        for name in names {
            let text = escaped_name(name);
            assert_eq!(unescaped_name(&text), name, "{text}");
            assert!(!text.contains(acts) && text.trim_end() == text, "{text}");
        }
        assert_eq!(escaped_name("◆ a".as_bytes()), "◆ a");
    }

    #[test]
    fn what_is_not_an_escape_means_itself() {
        for text in [r"a\b", r"\x4", r"\xzz", r"\u41", r"\u{}", r"\u{110000}", r"\u{+41}", r"\x00", r"end\"] {
            assert_eq!(unescaped_name(text), text.as_bytes(), "{text}");
        }
        assert_eq!(unescaped_name(r"\u{25c6}\x41"), "◆A".as_bytes());
    }
}
