//! Escapes of languages: what a value looks like between quotes, the quotes themselves not included.

use std::fmt::Write as _;

/// A text with each character written by a function that writes nothing where it has no escape for it.
fn escape(text: &str, mut one: impl FnMut(char, &mut String)) -> String {
    let mut escaped = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        let before = escaped.len();
        one(c, &mut escaped);
        if escaped.len() == before {
            escaped.push(c);
        }
    }
    escaped
}

/// The short escapes that most languages share.
fn short(c: char) -> Option<&'static str> {
    Some(match c {
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\\' => "\\\\",
        _ => return None,
    })
}

fn units(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// What every writer of JSON escapes.
fn usual(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        c if short(c).is_some() => out.push_str(short(c).unwrap_or_default()),
        c if c.is_ascii_control() && c != '\u{7f}' => units(c, out),
        _ => {}
    }
}

/// ASCII only, as Python and PHP write.
fn ascii_only(text: &str) -> String {
    escape(text, |c, out| {
        if !c.is_ascii() {
            units(c, out);
        }
    })
}

/// The two ways in which most documents are written.
pub(super) fn json_usual(text: &str) -> [String; 2] {
    let strict = escape(text, usual);
    [ascii_only(&strict), strict]
}

pub(super) fn json(text: &str) -> Vec<String> {
    let strict = escape(text, usual);
    let slashes = strict.replace('/', "\\/");
    let ascii = ascii_only;
    // What HTML could read is written as escapes by Go, .NET and others, each with its own list.
    let safe = escape(text, |c, out| match c {
        '<' | '>' | '&' | '\'' => units(c, out),
        c => usual(c, out),
    });
    let go = escape(text, |c, out| match c {
        '<' | '>' | '&' => units(c, out),
        c => usual(c, out),
    });
    let dotnet = escape(text, |c, out| match c {
        '<' | '>' | '&' | '\'' | '+' | '"' | '`' => units(c, out),
        c => usual(c, out),
    });
    let all = escape(text, units);
    let twice = escape(&strict, usual);
    let twice_ascii = escape(&ascii(&strict), usual);
    vec![
        ascii(&strict),
        ascii(&slashes),
        ascii(&safe),
        strict,
        slashes,
        safe,
        go,
        ascii(&dotnet),
        dotnet,
        all,
        twice,
        twice_ascii,
    ]
}

pub(super) fn html(text: &str) -> Vec<String> {
    /// How a double and a single quote are written: by browsers, Python, PHP, Go, and not at all.
    const QUOTES: &[(&str, &str)] = &[
        ("&quot;", "&#39;"),
        ("&quot;", "&#x27;"),
        ("&quot;", "&#039;"),
        ("&quot;", "&apos;"),
        ("&#34;", "&#39;"),
        ("&quot;", "'"),
        ("\"", "'"),
    ];
    QUOTES
        .iter()
        .map(|(double, single)| {
            escape(text, |c, out| match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str(double),
                '\'' => out.push_str(single),
                _ => {}
            })
        })
        .collect()
}

pub(super) fn shell(text: &str) -> Vec<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
    let quoted = text.replace('\'', "'\\''");
    // Python's `shlex.quote` leaves the quotes another way.
    let shlex = text.replace('\'', "'\"'\"'");
    let backslash = escape(text, |c, out| {
        if !is_plain(c) {
            out.push('\\');
            out.push(c);
        }
    });
    // `printf %q` escapes some of what `is_plain` leaves, too.
    let careful = escape(text, |c, out| {
        if !(c.is_alphanumeric() || "_-./:=@%+".contains(c)) {
            out.push('\\');
            out.push(c);
        }
    });
    let double = escape(text, |c, out| {
        if "$`\"\\".contains(c) {
            out.push('\\');
            out.push(c);
        }
    });
    let history = double.replace('!', "\\!");
    let dollar = escape(text, |c, out| match c {
        '\'' => out.push_str("\\'"),
        '\u{1b}' => out.push_str("\\E"),
        c if short(c).is_some() => out.push_str(short(c).unwrap_or_default()),
        _ => {}
    });
    vec![quoted, shlex, backslash, careful, double, history, dollar]
}

pub(super) fn repr(text: &str) -> Vec<String> {
    // Python takes the quotes that need fewer escapes, so each kind may be escaped or not.
    let python = |quote: Option<char>| {
        escape(text, |c, out| match c {
            c if Some(c) == quote => {
                out.push('\\');
                out.push(c);
            }
            c if short(c).is_some() => out.push_str(short(c).unwrap_or_default()),
            c if c.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            _ => {}
        })
    };
    let bytes = |quote: Option<char>| {
        let mut written = String::new();
        for byte in text.bytes() {
            let c = char::from(byte);
            match c {
                c if Some(c) == quote => {
                    written.push('\\');
                    written.push(c);
                }
                c if short(c).is_some() => written.push_str(short(c).unwrap_or_default()),
                ' '..='~' => written.push(c),
                _ => {
                    let _ = write!(written, "\\x{byte:02x}");
                }
            }
        }
        written
    };
    // Python's `ascii`; with units of four digits it is what Java and JavaScript write.
    let ascii = |quote| {
        escape(&python(quote), |c, out| {
            let _ = match u32::from(c) {
                0..=0x7f => Ok(()),
                code @ 0x80..=0xff => write!(out, "\\x{code:02x}"),
                code @ 0x100..=0xffff => write!(out, "\\u{code:04x}"),
                code => write!(out, "\\U{code:08x}"),
            };
        })
    };
    let java = |quote| ascii_only(&python(quote));
    let rust = text.escape_debug().to_string();
    let rust_string = rust.replace("\\'", "'");
    let rust_ascii = text.escape_default().to_string();
    let mut forms = vec![rust, rust_string, rust_ascii];
    for quote in [None, Some('\''), Some('"'), Some('`')] {
        forms.extend([python(quote), bytes(quote), ascii(quote), java(quote)]);
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(forms: &[String], expect: &[&str]) {
        for expect in expect {
            assert!(forms.iter().any(|form| form == expect), "{expect} is not in {forms:#?}");
        }
    }

    #[test]
    fn json_has_many_writers() {
        check(
            &json("a\"b/c\\d\n<ü😀"),
            &[
                r#"a\"b/c\\d\n<ü😀"#,
                r#"a\"b\/c\\d\n<ü😀"#,
                r#"a\"b/c\\d\n<\u00fc\ud83d\ude00"#,
                r#"a\"b/c\\d\n\u003cü😀"#,
                r#"a\\\"b/c\\\\d\\n<ü😀"#,
            ],
        );
        check(&json("ab"), &[r"\u0061\u0062"]);
    }

    #[test]
    fn html_writes_quotes_in_several_ways() {
        check(&html("<a&'\""), &["&lt;a&amp;&#39;&quot;", "&lt;a&amp;&#x27;&quot;", "&lt;a&amp;'\""]);
    }

    #[test]
    fn shells_quote_in_several_ways() {
        check(&shell("it's $5"), &[r"it'\''s $5", r"it\'s\ \$5", r"it's \$5", r#"it'"'"'s $5"#]);
        check(&shell("a'b\nc"), &[r"a\'b\nc"]);
    }

    #[test]
    fn debuggers_write_what_cannot_be_seen() {
        check(
            &repr("a'b\"\n\u{1}ü"),
            &[r#"a\'b"\n\x01ü"#, r#"a\'b"\n\x01\xc3\xbc"#, r#"a\'b"\n\x01\xfc"#, r#"a'b\"\n\u{1}ü"#],
        );
    }
}
