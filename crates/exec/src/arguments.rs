//! A text of arguments as an argv, split the way a POSIX shell splits words, with nothing else that a shell does.

/// The most that the arguments of one call may have, in bytes. The kernel takes no single argument above 128 KiB, and a
/// model that writes more means a file.
pub const MAX_ARGUMENTS: usize = 128 * 1024;

/// Why a text is no list of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// A quote is opened and not closed.
    #[error(
        "the quote `{quote}` at character {at} of the arguments is not closed; close it, or put a `\\` before it"
    )]
    Unclosed {
        /// The quote.
        quote: char,
        /// Where it is, in characters from 1.
        at: usize,
    },
    /// The last character is a backslash that has nothing to stand before.
    #[error("the arguments end with a `\\`; write `\\\\` for one")]
    LoneBackslash,
    /// A NUL, at which the system would cut the argument.
    #[error("the arguments hold a NUL at character {at}; leave it out")]
    Nul {
        /// Where it is, in characters from 1.
        at: usize,
    },
    /// More than [`MAX_ARGUMENTS`].
    #[error(
        "the arguments have {bytes} bytes, more than the limit of {MAX_ARGUMENTS}; put the text into a file"
    )]
    TooLong {
        /// How many.
        bytes: usize,
    },
}

/// Checks arguments that need no splitting: the kernel takes no more than [`MAX_ARGUMENTS`], and a NUL would end one early.
///
/// ```
/// use metier_exec::{ArgumentError, check_arguments};
///
/// assert_eq!(check_arguments(&["a b".to_owned()]), Ok(()));
/// assert_eq!(check_arguments(&["a".to_owned(), "b\0".to_owned()]), Err(ArgumentError::Nul { at: 3 }));
/// ```
pub fn check_arguments(arguments: &[String]) -> Result<(), ArgumentError> {
    let bytes = arguments.iter().map(|argument| argument.len() + 1).sum();
    if bytes > MAX_ARGUMENTS {
        return Err(ArgumentError::TooLong { bytes });
    }
    check_nul(arguments.iter().flat_map(|argument| argument.chars()))
}

/// The same for one text that is still to be split.
pub(crate) fn check_text(text: &str) -> Result<(), ArgumentError> {
    if text.len() > MAX_ARGUMENTS {
        return Err(ArgumentError::TooLong { bytes: text.len() });
    }
    check_nul(text.chars())
}

pub(crate) fn check_nul(mut characters: impl Iterator<Item = char>) -> Result<(), ArgumentError> {
    let nul = characters.position(|character| character == '\0');
    nul.map_or(Ok(()), |at| Err(ArgumentError::Nul { at: at + 1 }))
}

/// Splits a text into arguments. Variables, globs, comments and operators mean nothing: `$HOME` and `*` are text.
///
/// ```
/// use metier_exec::split_arguments;
///
/// assert_eq!(split_arguments(r#"--name "Ada Lovelace" it\'s"#)?, ["--name", "Ada Lovelace", "it's"]);
/// # Ok::<(), metier_exec::ArgumentError>(())
/// ```
pub fn split_arguments(text: &str) -> Result<Vec<String>, ArgumentError> {
    check_text(text)?;
    let mut arguments = Vec::new();
    // `None` between words. An empty pair of quotes is a word, too.
    let mut word = None::<String>;
    let mut characters = text.chars().enumerate().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            ' ' | '\t' | '\n' | '\r' => arguments.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some((_, '\'')) => break,
                        Some((_, inner)) => word.push(inner),
                        None => return Err(ArgumentError::Unclosed { quote: '\'', at: at + 1 }),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some((_, '"')) => break,
                        // Inside double quotes a backslash means something before these only.
                        Some((_, '\\')) => match characters.peek() {
                            Some((_, '\n')) => drop(characters.next()),
                            Some(&(_, escaped @ ('$' | '`' | '"' | '\\'))) => {
                                characters.next();
                                word.push(escaped);
                            }
                            _ => word.push('\\'),
                        },
                        Some((_, inner)) => word.push(inner),
                        None => return Err(ArgumentError::Unclosed { quote: '"', at: at + 1 }),
                    }
                }
            }
            '\\' => match characters.next() {
                // The line goes on, as in a shell.
                Some((_, '\n')) => {}
                Some((_, escaped)) => word.get_or_insert_default().push(escaped),
                None => return Err(ArgumentError::LoneBackslash),
            },
            other => word.get_or_insert_default().push(other),
        }
    }
    arguments.extend(word);
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(
            split_arguments(text).as_deref(),
            Ok(expect.iter().map(ToString::to_string).collect::<Vec<_>>()).as_deref(),
            "{text:?}"
        );
    }

    #[test]
    fn words_quotes_and_backslashes_are_a_shells() {
        check("", &[]);
        check(" \t\n ", &[]);
        check("a b", &["a", "b"]);
        check("  a   b  ", &["a", "b"]);
        check("'a b' c", &["a b", "c"]);
        check(r#""a b"c"#, &["a bc"]);
        check("'' \"\"", &["", ""]);
        check(r"a\ b", &["a b"]);
        check(r#"'a"b' "c'd""#, &["a\"b", "c'd"]);
        check(r#""\$x \q \" \\""#, &[r#"$x \q " \"#]);
        check(r"'\n'", &["\\n"]);
        check("a\\\nb", &["ab"]);
        check("\"a\\\nb\"", &["ab"]);
        check("$HOME * a;b | c # d", &["$HOME", "*", "a;b", "|", "c", "#", "d"]);
        check("näh 件", &["näh", "件"]);
    }

    #[test]
    fn what_cannot_be_split_says_where() {
        let error = |text: &str| split_arguments(text).unwrap_err();
        assert_eq!(error("é 'a b"), ArgumentError::Unclosed { quote: '\'', at: 3 });
        assert_eq!(error("a \"b"), ArgumentError::Unclosed { quote: '"', at: 3 });
        assert_eq!(error("a\\"), ArgumentError::LoneBackslash);
        assert_eq!(error("a\0b"), ArgumentError::Nul { at: 2 });
        assert_eq!(error("'a\0b'"), ArgumentError::Nul { at: 3 });
        assert_eq!(
            error(&"a".repeat(MAX_ARGUMENTS + 1)),
            ArgumentError::TooLong { bytes: MAX_ARGUMENTS + 1 }
        );
        assert_eq!(
            error("it's").to_string(),
            "the quote `'` at character 3 of the arguments is not closed; close it, or put a `\\` before it"
        );
    }

    proptest! {
        #[test]
        fn quoted_words_come_back_as_they_were(words in prop::collection::vec("[^\0]{0,12}", 0..6)) {
            let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
            prop_assert_eq!(split_arguments(&quoted.join(" ")).unwrap(), words);
        }

        #[test]
        fn any_text_is_split_or_refused(text in any::<String>()) {
            if let Ok(words) = split_arguments(&text) {
                prop_assert!(words.iter().all(|word| !word.contains('\0') && word.len() <= text.len()));
            }
        }
    }
}
