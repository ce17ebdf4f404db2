//! Bytes of an answer as text.

use std::borrow::Cow;

use encoding_rs::{Encoding, REPLACEMENT, UTF_8};

/// How far into a page its own word about its encoding is looked for, as browsers do.
const HEAD: usize = 1024;

/// The text of a body, and what to say about it where it could not be read for sure.
pub(in crate::general) fn decoded<'a>(bytes: &'a [u8], content_type: &str) -> (Cow<'a, str>, Option<String>) {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return (encoding.decode_without_bom_handling(bytes.get(mark..).unwrap_or_default()).0, None);
    }
    let named = parameter(content_type).or_else(|| {
        let head = String::from_utf8_lossy(bytes.get(..HEAD).unwrap_or(bytes)).to_ascii_lowercase();
        head.find("<meta").and_then(|at| head.get(at..).and_then(parameter))
    });
    let Some(name) = named else { return (String::from_utf8_lossy(bytes), None) };
    // The standard replaces dangerous legacy encodings by one character; such bytes are treated as unknown instead.
    if let Some(encoding) = Encoding::for_label(name.as_bytes()).filter(|found| *found != REPLACEMENT) {
        return (encoding.decode_without_bom_handling(bytes).0, None);
    }
    // An unknown name mostly means UTF-8. Otherwise a note says that the text may be wrong.
    let (text, has_errors) = UTF_8.decode_without_bom_handling(bytes);
    let name = metier_catalog::one_line(&name, 40);
    let note = format!("its encoding `{name}` is not known here; what is not ASCII may be wrong");
    (text, has_errors.then_some(note))
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
        check(b"\x82\xa0", "text/html; charset=shift_jis", "あ");
        check(b"\xd6\xd0", "text/html; charset=gbk", "中");
        check(b"\xd0\xd2", "text/html; charset=koi8-r", "пр");
        for name in ["x-unknown", "iso-2022-kr"] {
            let kind = format!("text/html; charset={name}");
            assert!(decoded(b"\x82\xa0", &kind).1.unwrap().contains(&format!("`{name}`")));
            assert_eq!(decoded("grün".as_bytes(), &kind), ("grün".into(), None));
        }
    }
}
