//! What somebody types, as a question to the full-text index.
//!
//! The index has a language of its own (`"`, `*`, `NEAR`, `NOT`, column names). Nobody means it: every word is put in quotes,
//! in which nothing of it holds.

/// How many words of a question count. Each one is a look into the index.
const MAX_WORDS: usize = 32;

/// Whether all words must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// People who look for something add words to get fewer answers.
    All,
    /// A model asks in sentences; what fits best comes first.
    Any,
}

/// The question, or `None` where nothing in the text is a word.
pub(crate) fn question(text: &str, how: Match) -> Option<String> {
    let words: Vec<String> = text
        .split(|character: char| character.is_whitespace() || character.is_control())
        // What has no letter and no digit is no word to the index either, and would match nothing.
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .take(MAX_WORDS)
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    let between = match how {
        Match::All => " AND ",
        Match::Any => " OR ",
    };
    (!words.is_empty()).then(|| words.join(between))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_a_word_whatever_it_means_to_the_index() {
        for (text, expect) in [
            ("", None),
            (" * \" ( ) - ", None),
            ("buy milk", Some(r#""buy" AND "milk""#)),
            ("a NEAR b", Some(r#""a" AND "NEAR" AND "b""#)),
            (r#"say "hi" x*"#, Some(r#""say" AND """hi""" AND "x*""#)),
            ("words:x\u{0}y", Some(r#""words:x" AND "y""#)),
        ] {
            assert_eq!(question(text, Match::All).as_deref(), expect, "{text:?}");
        }
        assert_eq!(question("a b", Match::Any).as_deref(), Some(r#""a" OR "b""#));
    }
}
