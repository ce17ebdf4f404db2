//! One value as real programs write it, and what is left of it. About half of the texts were written by these programs, the
//! rest by hand after them.
//!
//! docs/secrets.md has the same table, and a test holds the two together.

use std::fmt::Write as _;

use crate::redacted;

/// A value with something to escape for everybody.
const VALUE: &str = "p@ss/w0rd+&'T\u{f6}\"k<en\\9 $x";

struct Row {
    way: &'static str,
    /// Who writes like this.
    by: &'static str,
    text: &'static [u8],
    shown: &'static str,
}

const FOUND: &[Row] = &[
    Row { way: "plain", by: "`echo`", text: b"p@ss/w0rd+&'T\xc3\xb6\"k<en\\9 $x", shown: "[secret KEY]" },
    Row { way: "URL-encoded", by: "Python's `quote_plus`, forms", text: b"p%40ss%2Fw0rd%2B%26%27T%C3%B6%22k%3Cen%5C9+%24x", shown: "[secret KEY]" },
    Row { way: "URL-encoded, for a path", by: "Python's `quote`", text: b"p%40ss/w0rd%2B%26%27T%C3%B6%22k%3Cen%5C9%20%24x", shown: "[secret KEY]" },
    Row { way: "URL-encoded, lower case", by: "Java, .NET", text: b"p%40ss%2fw0rd%2b%26%27t%c3%b6%22k%3cen%5c9%20%24x", shown: "[secret KEY]" },
    Row { way: "base64", by: "`base64`", text: b"cEBzcy93MHJkKyYnVMO2Ims8ZW5cOSAkeA==", shown: "[secret KEY]==" },
    Row { way: "base64 with a line end", by: "`base64` after `echo`", text: b"cEBzcy93MHJkKyYnVMO2Ims8ZW5cOSAkeAo=", shown: "[secret KEY]o=" },
    Row { way: "base64 for URLs", by: "JWTs", text: b"cEBzcy93MHJkKyYnVMO2Ims8ZW5cOSAkeA", shown: "[secret KEY]" },
    Row { way: "base64 of a header", by: "`Authorization: Basic`", text: b"YWxpY2U6cEBzcy93MHJkKyYnVMO2Ims8ZW5cOSAkeA==", shown: "YWxpY2U6[secret KEY]==" },
    Row { way: "base64 of JSON", by: "a service's key in a variable", text: b"eyJrZXkiOiAicEBzcy93MHJkKyYnVFx1MDBmNlwiazxlblxcOSAkeCJ9", shown: "eyJrZXkiOiAi[secret KEY]J9" },
    Row { way: "base64, wrapped", by: "`base64 -w16`, mail at 76 columns", text: b"dG9rZW4gcEBzcy93\nMHJkKyYnVMO2Ims8\nZW5cOSAkeCBlbmQ=\n", shown: "dG9rZW4g[secret KEY]BlbmQ=\n" },
    Row { way: "JSON", by: "any writer", text: b"\"p@ss/w0rd+&'T\xc3\xb6\\\"k<en\\\\9 $x\"", shown: "\"[secret KEY]\"" },
    Row { way: "JSON, ASCII only", by: "Python's `json.dumps`", text: b"\"p@ss/w0rd+&'T\\u00f6\\\"k<en\\\\9 $x\"", shown: "\"[secret KEY]\"" },
    Row { way: "JSON with \\/", by: "PHP", text: b"\"p@ss\\/w0rd+&'T\\u00f6\\\"k<en\\\\9 $x\"", shown: "\"[secret KEY]\"" },
    Row { way: "JSON in JSON", by: "a log of logs", text: b"\"\\\"p@ss/w0rd+&'T\\\\u00f6\\\\\\\"k<en\\\\\\\\9 $x\\\"\"", shown: "\"\\\"[secret KEY]\\\"\"" },
    Row { way: "hex", by: "`xxd -p`", text: b"704073732f773072642b262754c3b6226b3c656e5c39202478", shown: "[secret KEY]" },
    Row { way: "hex, upper case", by: "`openssl`", text: b"704073732F773072642B262754C3B6226B3C656E5C39202478", shown: "[secret KEY]" },
    Row { way: "hex, od", by: "`od -tx1`", text: b" 70 40 73 73 2f 77 30 72 64 2b 26 27 54 c3 b6 22\n 6b 3c 65 6e 5c 39 20 24 78\n", shown: " [secret KEY]\n" },
    Row { way: "hex, colons", by: "fingerprints", text: b"70:40:73:73:2f:77:30:72:64:2b:26:27:54:c3:b6:22:6b:3c:65:6e:5c:39:20:24:78", shown: "[secret KEY]" },
    Row { way: "HTML", by: "Python's `html.escape`", text: b"p@ss/w0rd+&amp;&#x27;T\xc3\xb6&quot;k&lt;en\\9 $x", shown: "[secret KEY]" },
    Row { way: "shell trace", by: "`set -x`", text: b"+ : 'p@ss/w0rd+&'\\''T\xc3\xb6\"k<en\\9 $x'\n", shown: "+ : '[secret KEY]'\n" },
    Row { way: "shell, shlex", by: "Python's `shlex.quote`", text: b"'p@ss/w0rd+&'\"'\"'T\xc3\xb6\"k<en\\9 $x'", shown: "'[secret KEY]'" },
    Row { way: "shell, printf %q", by: "bash", text: b"p@ss/w0rd+\\&\\'T\xc3\xb6\\\"k\\<en\\\\9\\ \\$x", shown: "[secret KEY]" },
    Row { way: "shell, declare -p", by: "bash", text: b"declare -x S=\"p@ss/w0rd+&'T\xc3\xb6\\\"k<en\\\\9 \\$x\"\n", shown: "declare -x S=\"[secret KEY]\"\n" },
    Row { way: "Python repr", by: "a traceback", text: b"'p@ss/w0rd+&\\'T\xc3\xb6\"k<en\\\\9 $x'", shown: "'[secret KEY]'" },
    Row { way: "Python bytes", by: "`str(b)`", text: b"b'p@ss/w0rd+&\\'T\\xc3\\xb6\"k<en\\\\9 $x'", shown: "b'[secret KEY]'" },
    Row { way: "Python ascii", by: "`ascii(s)`", text: b"'p@ss/w0rd+&\\'T\\xf6\"k<en\\\\9 $x'", shown: "'[secret KEY]'" },
    Row { way: "base32", by: "`base32`, one-time passwords", text: b"OBAHG4ZPO4YHEZBLEYTVJQ5WEJVTYZLOLQ4SAJDY", shown: "[secret KEY]" },
    Row { way: "reversed", by: "`rev`", text: b"x$ 9\\ne<k\"\xc3\xb6T'&+dr0w/ss@p", shown: "[secret KEY]" },
    Row { way: "upper case", by: "`tr a-z A-Z`", text: b"P@SS/W0RD+&'T\xc3\x96\"K<EN\\9 $X", shown: "[secret KEY]" },
    Row { way: "UTF-16LE", by: "PowerShell", text: b"p\x00@\x00s\x00s\x00/\x00w\x000\x00r\x00d\x00+\x00&\x00'\x00T\x00\xf6\x00\"\x00k\x00<\x00e\x00n\x00\\\x009\x00 \x00$\x00x\x00", shown: "[secret KEY]" },
    Row { way: "UTF-16BE", by: "Java", text: b"\x00p\x00@\x00s\x00s\x00/\x00w\x000\x00r\x00d\x00+\x00&\x00'\x00T\x00\xf6\x00\"\x00k\x00<\x00e\x00n\x00\\\x009\x00 \x00$\x00x", shown: "[secret KEY]" },
    Row { way: "folded", by: "`fold`, mail, YAML", text: b"token: p@s\ns/w0rd+&'T\n\xc3\xb6\"k<en\\9 \n$x", shown: "token: p@s\n[secret KEY]" },
    Row { way: "spaced", by: "a careful debugger", text: b"p @ s s / w 0 r d + & ' T \xc3\xb6 \" k < e n \\ 9 $ x", shown: "[secret KEY]" },
    Row { way: "list of bytes", by: "`list(b)`, a `Buffer` of Node", text: b"[112, 64, 115, 115, 47, 119, 48, 114, 100, 43, 38, 39, 84, 195, 182, 34, 107, 60, 101, 110, 92, 57, 32, 36, 120]", shown: "[[secret KEY]]" },
];

/// What passes: way, who writes like this, text.
const MISSED: &[(&str, &str, &[u8])] = &[
    ("compressed", "`gzip`", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03+p(.\xd6/7(J\xd1VS\x0f9\xbcM)\xdb&5/\xc6RA\xa5\x02\x00\xf0\xa8_o\x19\x00\x00\x00"),
    ("base64 twice", "a secret of Kubernetes, encoded before", b"Y0VCemN5OTNNSEprS3lZblZNTzJJbXM4Wlc1Y09TQWtlQT09"),
    ("base64 of UTF-16", "PowerShell's `-EncodedCommand`", b"cABAAHMAcwAvAHcAMAByAGQAKwAmACcAVAD2ACIAawA8AGUAbgBcADkAIAAkAHgA"),
    ("one character a line", "`fold -w1`", b"p\n@\ns\ns\n/\nw\n0\nr\nd\n+\n&\n'\nT\n\xc3\xb6\n\"\nk\n<\ne\nn\n\\\n9\n \n$\nx"),
    ("rot13", "`tr`", b"c@ff/j0eq+&'G\xc3\xb6\"x<ra\\9 $k"),
    ("a dump with addresses", "`hexdump -C`", b"00000000  70 40 73 73 2f 77 30 72  64 2b 26 27 54 c3 b6 22  |p@ss/w0rd+&'T..\"|\n00000010  6b 3c 65 6e 5c 39 20 24  78                       |k<en\\9 $x|\n"),
];

#[test]
fn what_real_programs_write_is_found() {
    let secrets = &[("KEY", VALUE)];
    for Row { way, by, text, shown } in FOUND {
        assert_eq!(redacted(secrets, text), *shown, "{way}, {by}");
    }
}

/// A secret over two writes is found wherever the first one ends.
#[test]
fn what_real_programs_write_is_found_in_two_writes() {
    let redactor = crate::redactor(&[("KEY", VALUE)]);
    for Row { way, text, shown, .. } in FOUND {
        for cut in 0..=text.len() {
            let found = crate::invariant::in_pieces(&redactor, text, &[cut]);
            assert_eq!(String::from_utf8_lossy(&found), *shown, "{way}, cut at {cut}");
        }
    }
}

/// Nobody should count on these; when one is found one day, it moves up.
#[test]
fn what_is_missed_is_known() {
    for (way, _, text) in MISSED {
        assert!(!redacted(&[("KEY", VALUE)], text).starts_with("[secret"), "{way} is found now");
    }
}

#[test]
fn the_documentation_has_the_table() {
    let mut table = String::from("| written as | for example by | taken out |\n|---|---|---|\n");
    let missed = MISSED.iter().map(|(way, by, _)| (way, by, "no"));
    for (way, by, found) in FOUND.iter().map(|row| (&row.way, &row.by, "yes")).chain(missed) {
        writeln!(table, "| {way} | {by} | {found} |").unwrap();
    }
    println!("{table}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/secrets.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    assert!(page.contains(&table), "docs/secrets.md has another table; it should be\n{table}");
}
