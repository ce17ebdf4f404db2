//! In which shapes a secret turns up in texts: one row per way in which people write values down without meaning to.
//!
//! Upper and lower case are not told apart when a text is searched, so no encoding here has a second row for it.

mod escaped;
mod numbers;
mod percent;

use std::collections::BTreeSet;

pub(crate) use numbers::Edges;

/// One shape of a secret.
pub(crate) struct Form {
    /// What is looked for.
    pub(crate) bytes: Vec<u8>,
    /// What may stand around it that still tells something of the secret.
    pub(crate) edges: Edges,
}

impl Form {
    fn whole(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), edges: Edges::default() }
    }
}

/// Every shape of a text that is written down in another way than as it is; some may be the same.
pub(crate) fn encoded(text: &str) -> Vec<Form> {
    let bytes = text.as_bytes();
    let letters: Vec<String> = text.chars().filter(|c| !c.is_whitespace()).map(String::from).collect();
    let texts = [
        // `%2F` and `+`, strict as in a form, sparing as in a path, or every byte, once or twice.
        percent::all(text),
        // A string of JSON, with `\/`, `\u00e4`, and inside another string of JSON.
        escaped::json(text),
        // Hexadecimal, also with spaces, colons, `\x` or `0x`.
        numbers::hex(bytes),
        // `&amp;`, `&quot;`, `&#39;`.
        escaped::html(text),
        // `'it'\''s'`, `it\'s`, `"\$x"`, `$'\n'`.
        escaped::shell(text),
        // What Python's `repr` and Rust's `{:?}` make of it.
        escaped::repr(text),
        // A list of decimal numbers, as a buffer is shown.
        numbers::decimal(bytes),
        // A space between all characters, and back to front.
        vec![letters.join(" "), text.chars().rev().collect()],
    ];
    let others: [Vec<u8>; 3] = [
        bytes.iter().rev().copied().collect(),
        // UTF-16 in both byte orders.
        text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    ];
    // Base64, both alphabets, with or without padding, also inside a longer encoded text (`user:password`). What is encoded is
    // often a document: a value in JSON, in a form.
    let mut documents = BTreeSet::from([text.to_owned(), percent::strict(text)]);
    documents.extend(escaped::json_usual(text));
    let whole = texts.into_iter().flatten().map(Form::whole).chain(others.into_iter().map(Form::whole));
    let base64 = documents.iter().flat_map(|text| numbers::base64(text.as_bytes()));
    // Base32, also inside a longer encoded text.
    whole.chain(base64).chain(numbers::base32(bytes)).collect()
}

/// A line of a longer value that is looked for by itself, because programs read and print line by line. Shorter ones are
/// brackets, headings and ordinary words.
const LONG_LINE: usize = 16;

/// A text as it is; of a value of several lines also each long one.
pub(crate) fn plain(text: &str) -> Vec<Form> {
    // ASCII is searched without regard to case; letters beyond it have their own.
    let mut forms = vec![text.to_owned(), text.to_uppercase(), text.to_lowercase()];
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    if lines.len() > 1 {
        forms.extend(lines.iter().filter(|line| line.len() >= LONG_LINE).map(|line| (*line).to_owned()));
    }
    forms.into_iter().map(Form::whole).collect()
}
