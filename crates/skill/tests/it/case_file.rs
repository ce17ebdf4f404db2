//! Cases as data: files with a SKILL.md and what must come of it, several to a file.
//!
//! ```text
//! ;; A remark.
//!
//! === the title of a case
//! >>> file
//! ---
//! name: pdf
//! >>> expect
//! name: pdf
//! ```
//!
//! In the file's text `⟦0d⟧` is the byte 0d, and `⟦end⟧` at the end of the last line leaves its line break out.

/// One case.
pub(crate) struct Case<'a> {
    pub(crate) title: &'a str,
    pub(crate) file: Vec<u8>,
    /// The lines of the `expect` part.
    pub(crate) expect: Vec<&'a str>,
}

/// Reads the cases of one data file.
pub(crate) fn cases(text: &str) -> Vec<Case<'_>> {
    let mut parts = text.split("\n=== ");
    let head = parts.next().unwrap_or_default();
    assert!(head.lines().all(|line| line.is_empty() || line.starts_with(";; ")), "not a remark: {head}");
    parts.map(case).collect()
}

fn case(text: &str) -> Case<'_> {
    let (title, rest) = text.split_once("\n>>> file\n").expect("a case has a file");
    let (file, expect) = rest.split_once("\n>>> expect\n").expect("a case says what is expected");
    let expect = expect.lines().filter(|line| !line.is_empty() && !line.starts_with(";; ")).collect();
    Case { title, file: bytes(file), expect }
}

fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (text, end) = text.strip_suffix("⟦end⟧").map_or((text, "\n"), |text| (text, ""));
    let mut pieces = text.split('⟦');
    bytes.extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
    for piece in pieces {
        let (byte, rest) = piece.split_once('⟧').expect("`⟦` has its counterpart");
        bytes.push(u8::from_str_radix(byte, 16).expect("two hexadecimal digits"));
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes.extend_from_slice(end.as_bytes());
    bytes
}
