//! Running text as rules look for phrases in it: lower case, one blank between words, no punctuation.

/// How many words a message lists. More are not read.
const MAX_LISTED: usize = 4;

/// How much of a skill's own text a message quotes.
const MAX_QUOTED: usize = 60;

/// A text whose words can be looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoken(String);

impl Spoken {
    /// Takes punctuation, case and line breaks out. An apostrophe inside a word stays, whichever way it is written.
    pub(crate) fn of(text: &str) -> Self {
        let mut spoken = String::with_capacity(text.len() + 2);
        spoken.push(' ');
        let mut rest = text.chars().peekable();
        let mut in_word = false;
        while let Some(c) = rest.next() {
            let joins =
                matches!(c, '\'' | '’') && in_word && rest.peek().is_some_and(|next| next.is_alphanumeric());
            in_word = c.is_alphanumeric();
            if in_word && c.is_ascii() {
                spoken.push(c.to_ascii_lowercase());
            } else if in_word {
                spoken.extend(c.to_lowercase());
            } else if joins {
                spoken.push('\'');
            } else if !spoken.ends_with(' ') {
                spoken.push(' ');
            }
        }
        if !spoken.ends_with(' ') {
            spoken.push(' ');
        }
        Self(spoken)
    }

    /// Whether a phrase of lower-case words stands there as whole words.
    pub(crate) fn has(&self, phrase: &str) -> bool {
        self.0.match_indices(phrase).any(|(at, found)| {
            self.0[..at].ends_with(' ') && self.0[at + found.len()..].starts_with(' ') && !found.is_empty()
        })
    }

    /// Whether one of several phrases stands there.
    pub(crate) fn has_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.has(phrase))
    }

    /// Its words.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.0.split_ascii_whitespace()
    }
}

/// Whether most letters of a text are ASCII. What is known of English says nothing about other texts.
pub(crate) fn is_mostly_ascii(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (all, ascii) = letters.fold((0, 0), |(all, ascii), c| (all + 1, ascii + usize::from(c.is_ascii())));
    // Nine of ten: a name or a quoted word of another language does not make a text foreign.
    all > 0 && ascii * 10 >= all * 9
}

/// A piece of a skill's text for a message: in backticks, on one line, cut where it is long.
pub(crate) fn quoted(text: &str) -> String {
    let mut short = String::from("`");
    let mut length = 0;
    for word in text.split_whitespace() {
        for c in (length > 0).then_some(' ').into_iter().chain(word.chars()) {
            if length == MAX_QUOTED {
                short.push_str("…`");
                return short;
            }
            short.push(c);
            length += 1;
        }
    }
    short.push('`');
    short
}

/// Words for a message: each in backticks, with commas between.
pub(crate) fn listed<W: AsRef<str>>(words: &[W]) -> String {
    words.iter().take(MAX_LISTED).map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_as_whole_words_whatever_stands_between_them() {
        let spoken = Spoken::of("Use **when**\nit’s 'late'.");
        assert!(spoken.has("use when it's late"));
        assert!(!spoken.has("us"));
        assert!(!spoken.has(""));
        assert!(!Spoken::of("").has("a"));
        assert_eq!(spoken.words().count(), 4);
    }

    #[test]
    fn a_quoted_text_is_short_and_on_one_line() {
        assert_eq!(quoted("a \n b"), "`a b`");
        assert_eq!(quoted(&"é".repeat(80)), format!("`{}…`", "é".repeat(60)));
    }
}
