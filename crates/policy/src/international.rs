//! Host names in other scripts, as the network writes them.
//!
//! What two people would call the same name is one name here: letters in another width or case, accents in one character
//! or two. What is left is written by RFC 3492. The full tables of IDNA are twenty crates and would refuse a few more
//! names; those that they map elsewhere are not found by a resolver either.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// What begins a label that was written this way.
const PREFIX: &str = "xn--";

/// The name in ASCII; `None` where a character is in it that no name has.
pub(crate) fn to_ascii(name: &str) -> Option<String> {
    // Lower case can need composing again, and composing can bring upper case, so both twice.
    let fold = |text: &str| -> String { text.nfkc().flat_map(char::to_lowercase).nfkc().collect() };
    let name = fold(&fold(name));
    let labels: Option<Vec<String>> = name.split(['.', '\u{3002}', '\u{ff61}']).map(label).collect();
    labels.map(|labels| labels.join("."))
}

fn label(label: &str) -> Option<String> {
    if label.is_ascii() {
        return Some(label.to_owned());
    }
    // A name that looks written already and is not would read as another one once it is written.
    let is_allowed = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || is_combining_mark(c);
    if label.starts_with(PREFIX) || label.starts_with(is_combining_mark) || !label.chars().all(is_allowed) {
        return None;
    }
    encode(label).map(|written| format!("{PREFIX}{written}"))
}

/// RFC 3492: the ASCII characters first, then where each other one is put in, as differences in a base that adapts.
fn encode(label: &str) -> Option<String> {
    const BASE: u32 = 36;
    const LEAST: u32 = 1;
    const MOST: u32 = 26;
    let mut written: String = label.chars().filter(char::is_ascii).collect();
    let basic = u32::try_from(written.len()).ok()?;
    let count = u32::try_from(label.chars().count()).ok()?;
    if basic > 0 {
        written.push('-');
    }
    let (mut next, mut delta, mut bias, mut handled) = (128_u32, 0_u32, 72_u32, basic);
    while handled < count {
        let least = label.chars().map(u32::from).filter(|c| *c >= next).min()?;
        delta = delta.checked_add((least - next).checked_mul(handled + 1)?)?;
        next = least;
        for c in label.chars().map(u32::from) {
            if c < next {
                delta = delta.checked_add(1)?;
            }
            if c != next {
                continue;
            }
            let (mut rest, mut k) = (delta, BASE);
            loop {
                let threshold = k.saturating_sub(bias).clamp(LEAST, MOST);
                if rest < threshold {
                    break;
                }
                written.push(digit(threshold + (rest - threshold) % (BASE - threshold))?);
                rest = (rest - threshold) / (BASE - threshold);
                k += BASE;
            }
            written.push(digit(rest)?);
            bias = adapt(delta, handled + 1, handled == basic);
            delta = 0;
            handled += 1;
        }
        delta = delta.checked_add(1)?;
        next += 1;
    }
    Some(written)
}

fn adapt(delta: u32, points: u32, is_first: bool) -> u32 {
    let mut delta = if is_first { delta / 700 } else { delta / 2 };
    delta += delta / points;
    let mut k = 0;
    while delta > 455 {
        delta /= 35;
        k += 36;
    }
    k + 36 * delta / (delta + 38)
}

/// `a` to `z`, then `0` to `9`.
fn digit(value: u32) -> Option<char> {
    let byte = u8::try_from(value).ok().filter(|byte| *byte < 36)?;
    Some(char::from(if byte < 26 { b'a' + byte } else { b'0' + byte - 26 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_other_scripts_are_written_as_the_network_writes_them() {
        for (name, expect) in [
            ("bücher.example", Some("xn--bcher-kva.example")),
            ("BÜCHER.example", Some("xn--bcher-kva.example")),
            ("bu\u{308}cher.example", Some("xn--bcher-kva.example")),
            ("münchen.de", Some("xn--mnchen-3ya.de")),
            ("例え.jp", Some("xn--r8jz45g.jp")),
            ("例え。jp", Some("xn--r8jz45g.jp")),
            ("пример.рф", Some("xn--e1afmkfd.xn--p1ai")),
            ("ｅｘａｍｐｌｅ.com", Some("example.com")),
            ("１２７.0.0.1", Some("127.0.0.1")),
            ("中文", Some("xn--fiq228c")),
            ("faß.de", Some("xn--fa-hia.de")),
            ("example.com", Some("example.com")),
            ("ex\u{200b}ämple.com", None),
            ("a\u{2044}ä.com", None),
            ("xn--ä.com", None),
            ("\u{308}ä.com", None),
            ("💩.la", None),
        ] {
            assert_eq!(to_ascii(name).as_deref(), expect, "{name:?}");
        }
    }
}
