//! Host names in other scripts, as the network writes them: UTS 46, as browsers and the `url` crate apply it.
//!
//! A rule must judge the name that is then resolved, so this is the library that the HTTP client uses, too.

use idna::AsciiDenyList;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The name in ASCII; `None` if it is invalid.
pub(crate) fn to_ascii(name: &str) -> Option<String> {
    // Stricter than UTS 46, which allows symbols that pass for a slash and drops characters without a width: a person would
    // read another name than the one that is resolved.
    let is_allowed =
        |c: char| c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '-' | '_' | '.' | '\u{3002}');
    if !name.nfkc().all(is_allowed) {
        return None;
    }
    idna::domain_to_ascii_cow(name.as_bytes(), AsciiDenyList::URL).ok().map(String::from)
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
            // What the network takes for one name is one name here, too, whatever it looks like.
            ("ex\u{115f}ample.com", Some("example.com")),
            ("\u{13a0}.com", Some("xn--58d.com")),
            ("\u{ab70}.com", Some("xn--58d.com")),
            // Both directions in one label are shown in another order than they are written in.
            ("ab\u{5d0}cd.com", None),
            ("a℀b.com", None),
        ] {
            assert_eq!(to_ascii(name).as_deref(), expect, "{name:?}");
        }
    }
}
