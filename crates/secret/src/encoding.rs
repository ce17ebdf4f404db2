//! In which shapes a secret turns up in texts: one row per way in which people write values down without meaning to.
//!
//! Upper and lower case are not told apart when a text is searched, so no encoding here has a second row for it.

mod escaped;
mod numbers;
mod percent;

use std::collections::BTreeSet;

pub(crate) use numbers::Edges;

/// A way of writing a text down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encoding {
    /// As it is, in any mixture of upper and lower case; of a value of several lines also each long one.
    Plain,
    /// `%2F` and `+`, strict as in a form, sparing as in a path, or every byte, once or twice.
    Percent,
    /// Base64, both alphabets, with or without padding, also inside a longer encoded text
    /// (`user:password`, a value in JSON or in a form).
    Base64,
    /// A string of JSON, with `\/`, `\u00e4`, and inside another string of JSON.
    Json,
    /// Hexadecimal, also with spaces, colons, `\x` or `0x`.
    Hex,
    /// `&amp;`, `&quot;`, `&#39;`.
    Html,
    /// `'it'\''s'`, `it\'s`, `"\$x"`, `$'\n'`.
    Shell,
    /// What Python's `repr` and Rust's `{:?}` make of it.
    Repr,
    /// Base32, also inside a longer encoded text.
    Base32,
    /// Back to front.
    Reversed,
    /// UTF-16 in both byte orders.
    Utf16,
    /// A space between all characters.
    Spaced,
    /// A list of decimal numbers, as a buffer is shown.
    Decimal,
}

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

impl Encoding {
    /// All of them, the likeliest first.
    pub const ALL: &'static [Self] = &[
        Self::Plain,
        Self::Percent,
        Self::Base64,
        Self::Json,
        Self::Hex,
        Self::Html,
        Self::Shell,
        Self::Repr,
        Self::Base32,
        Self::Reversed,
        Self::Utf16,
        Self::Spaced,
        Self::Decimal,
    ];

    /// Every shape that a text takes in this encoding; some may be the same.
    pub(crate) fn forms(self, text: &str) -> Vec<Form> {
        let whole = |texts: Vec<String>| texts.into_iter().map(Form::whole).collect();
        match self {
            Self::Plain => whole(plain(text)),
            Self::Percent => whole(percent::all(text)),
            // What is encoded is often a document: a value in JSON, in a form.
            Self::Base64 => [text.to_owned(), percent::strict(text)]
                .into_iter()
                .chain(escaped::json_usual(text))
                .collect::<BTreeSet<String>>()
                .iter()
                .flat_map(|text| numbers::base64(text.as_bytes()))
                .collect(),
            Self::Json => whole(escaped::json(text)),
            Self::Hex => whole(numbers::hex(text.as_bytes())),
            Self::Html => whole(escaped::html(text)),
            Self::Shell => whole(escaped::shell(text)),
            Self::Repr => whole(escaped::repr(text)),
            Self::Base32 => numbers::base32(text.as_bytes()),
            Self::Reversed => vec![
                Form::whole(text.chars().rev().collect::<String>()),
                Form::whole(text.bytes().rev().collect::<Vec<u8>>()),
            ],
            Self::Utf16 => {
                let units = || text.encode_utf16();
                vec![
                    Form::whole(units().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()),
                    Form::whole(units().flat_map(u16::to_be_bytes).collect::<Vec<u8>>()),
                ]
            }
            Self::Spaced => {
                let letters: Vec<String> =
                    text.chars().filter(|c| !c.is_whitespace()).map(String::from).collect();
                vec![Form::whole(letters.join(" "))]
            }
            Self::Decimal => whole(numbers::decimal(text.as_bytes())),
        }
    }
}

/// A line of a longer value that is looked for by itself, because programs read and print line by line. Shorter ones are
/// brackets, headings and ordinary words.
const LONG_LINE: usize = 16;

fn plain(text: &str) -> Vec<String> {
    // ASCII is searched without regard to case; letters beyond it have their own.
    let mut forms = vec![text.to_owned(), text.to_uppercase(), text.to_lowercase()];
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    if lines.len() > 1 {
        forms.extend(lines.iter().filter(|line| line.len() >= LONG_LINE).map(|line| (*line).to_owned()));
    }
    forms
}
