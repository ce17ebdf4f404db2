//! JSON in which every character of a string can be seen: what acts on a terminal or hides stands as `\uXXXX`, which means the same.

use metier_diagnostic::acts;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Writes a value.
pub(crate) fn write(to: impl Write, value: &impl Serialize) -> serde_json::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(to, Visible))
}

/// A value as one line.
pub(crate) fn line(value: &Value) -> String {
    let mut json = Vec::new();
    // Writing to memory does not fail, and what is written is UTF-8.
    let _ = write(&mut json, value);
    String::from_utf8_lossy(&json).into_owned()
}

/// Escapes in strings what `serde_json` would leave as it is.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        // DEL is the one character of ASCII that acts and that serde_json leaves. Listings are mostly plain ASCII.
        if rest.is_ascii() && !rest.contains('\x7f') {
            return writer.write_all(rest.as_bytes());
        }
        while let Some(at) = rest.find(acts) {
            let (before, from) = rest.split_at(at);
            let character = from.chars().next().unwrap_or_default();
            writer.write_all(before.as_bytes())?;
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &from[character.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_escaped_and_means_the_same() {
        let mut texts: Vec<String> = (0..=127_u8).map(|byte| format!("a{}b", char::from(byte))).collect();
        texts.extend(["", "größe 日本 🎯", "\u{9b}\u{202e}\u{e0041}", "a\x7f"].map(String::from));
        for text in texts {
            let json = line(&Value::String(text.clone()));
            assert!(!json.contains(acts), "{json:?}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
