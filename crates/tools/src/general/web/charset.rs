//! Bytes of an answer as text.

use std::borrow::Cow;

/// What the bytes 0x80 to 0x9f are in the encoding that most pages mean by "Latin-1".
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// How far into a page its own word about its encoding is looked for, as browsers do.
const HEAD: usize = 1024;

/// The text of a body, and what to say about it where it could not be read for sure.
pub(in crate::general) fn decoded<'a>(bytes: &'a [u8], content_type: &str) -> (Cow<'a, str>, Option<String>) {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return (String::from_utf8_lossy(rest), None);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return (utf_16(rest, u16::from_le_bytes), None);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return (utf_16(rest, u16::from_be_bytes), None);
    }
    let named = parameter(content_type).or_else(|| {
        let head = String::from_utf8_lossy(bytes.get(..HEAD).unwrap_or(bytes)).to_ascii_lowercase();
        head.find("<meta").and_then(|at| head.get(at..).and_then(parameter))
    });
    match named.as_deref() {
        None | Some("utf-8" | "utf8" | "us-ascii" | "ascii") => (String::from_utf8_lossy(bytes), None),
        Some("iso-8859-1" | "latin1" | "latin-1" | "windows-1252" | "cp1252") => {
            (bytes.iter().map(|byte| latin(*byte)).collect::<String>().into(), None)
        }
        Some("iso-8859-15" | "iso8859-15" | "iso_8859-15" | "latin9" | "latin-9" | "l9") => {
            (bytes.iter().map(|byte| latin_9(*byte)).collect::<String>().into(), None)
        }
        Some("utf-16le" | "utf-16") => (utf_16(bytes, u16::from_le_bytes), None),
        Some("utf-16be") => (utf_16(bytes, u16::from_be_bytes), None),
        // What is said to be something else is UTF-8 more often than not; if it is not, that is said.
        Some(other) => {
            if let Ok(text) = std::str::from_utf8(bytes) {
                return (text.into(), None);
            }
            let name = metier_catalog::one_line(other, 40);
            let note = format!("its encoding `{name}` is not known here; what is not ASCII may be wrong");
            (String::from_utf8_lossy(bytes), Some(note))
        }
    }
}

/// The value of `charset=` in a text, in lower case.
fn parameter(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let rest = lower.get(lower.find("charset=")? + "charset=".len()..)?;
    let rest = rest.trim_start().trim_start_matches(['"', '\'']);
    let end = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':')))
        .unwrap_or(rest.len());
    rest.get(..end).filter(|name| !name.is_empty()).map(str::to_owned)
}

fn latin(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252.get(usize::from(byte - 0x80)).copied().unwrap_or('\u{fffd}'),
        byte => char::from(byte),
    }
}

/// ISO-8859-15: Latin-1 with the euro sign and seven letters in the place of signs that few texts have.
fn latin_9(byte: u8) -> char {
    match byte {
        0xa4 => '€',
        0xa6 => 'Š',
        0xa8 => 'š',
        0xb4 => 'Ž',
        0xb8 => 'ž',
        0xbc => 'Œ',
        0xbd => 'œ',
        0xbe => 'Ÿ',
        byte => char::from(byte),
    }
}

fn utf_16(bytes: &[u8], order: fn([u8; 2]) -> u16) -> Cow<'static, str> {
    let units = bytes.chunks_exact(2).map(|pair| order([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_taken_from_the_header_the_mark_or_the_page() {
        let check =
            |bytes: &[u8], kind: &str, expect: &str| assert_eq!(decoded(bytes, kind).0, expect, "{kind}");
        check("grün".as_bytes(), "text/html", "grün");
        check(b"gr\xfcn \x80", "text/html; charset=ISO-8859-1", "grün €");
        check(b"gr\xfcn", "text/html; charset=\"windows-1252\"", "grün");
        check(b"5 \xa4, \xbcuvre, \xfc", "text/html; charset=ISO-8859-15", "5 €, Œuvre, ü");
        check(b"5 \xa4", "text/html; charset=iso-8859-1", "5 ¤");
        check(b"<meta charset=latin1>gr\xfcn", "text/html", "<meta charset=latin1>grün");
        check(b"\xff\xfeh\0i\0", "text/plain; charset=utf-8", "hi");
        check(b"\xfe\xff\0h\0i", "text/plain", "hi");
        check(b"gr\xfcn", "text/html; charset=utf-8", "gr\u{fffd}n");
        assert!(decoded(b"\x82\xa0", "text/html; charset=shift_jis").1.unwrap().contains("`shift_jis`"));
        assert_eq!(decoded("grün".as_bytes(), "text/html; charset=koi8-r"), ("grün".into(), None));
    }
}
