//! Characters that a page writes by name or number.

use std::borrow::Cow;

/// The names that are met in real pages; all others stay as they are written, which is readable, too.
const NAMES: &[(&str, &str)] = &[
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("hellip", "…"),
    ("mdash", "—"),
    ("ndash", "–"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("bull", "•"),
    ("middot", "·"),
    ("times", "×"),
    ("deg", "°"),
    ("plusmn", "±"),
    ("frac12", "½"),
    ("euro", "€"),
    ("pound", "£"),
    ("yen", "¥"),
    ("sect", "§"),
    ("para", "¶"),
    ("larr", "←"),
    ("rarr", "→"),
    ("uarr", "↑"),
    ("darr", "↓"),
    ("auml", "ä"),
    ("ouml", "ö"),
    ("uuml", "ü"),
    ("Auml", "Ä"),
    ("Ouml", "Ö"),
    ("Uuml", "Ü"),
    ("szlig", "ß"),
    ("eacute", "é"),
    ("egrave", "è"),
    ("agrave", "à"),
    ("ccedil", "ç"),
    ("ntilde", "ñ"),
    ("zwj", "\u{200d}"),
    ("zwnj", "\u{200c}"),
    ("shy", ""),
];

/// No name or number that is known is longer.
const LONGEST: usize = 10;

/// The text with what is written by name or number in its place. What comes out is not read again.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let end = after.char_indices().take(LONGEST + 2).find(|(_, c)| *c == ';').map(|(end, _)| end);
        let known = end.and_then(|end| Some((character(after.get(1..end)?)?, end)));
        if let Some((character, end)) = known {
            out.push_str(&character);
            rest = after.get(end + 1..).unwrap_or_default();
        } else {
            out.push('&');
            rest = after.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn character(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        // Control characters have no place in a text that somebody reads.
        let c = char::from_u32(code).filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))?;
        return Some(c.to_string());
    }
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_read_once() {
        for (text, expect) in [
            ("a &amp; b", "a & b"),
            ("&amp;lt;", "&lt;"),
            ("&#60;&#x3E;", "<>"),
            ("&unknown; &", "&unknown; &"),
            ("&#0; &#xD800; &#27;", "&#0; &#xD800; &#27;"),
            ("&é;", "&é;"),
            ("&nbsp;x", " x"),
        ] {
            assert_eq!(plain(text), expect);
        }
    }
}
