//! One word of a command that is about to start.

use crate::shell;
use std::collections::VecDeque;

/// A word, and whether its text is what the program gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) text: String,
    /// False for a glob and for a word that is filled in later, as `{}` of `find` is.
    pub(super) is_known: bool,
}

impl Argument {
    pub(super) fn known(text: &str) -> Self {
        Self { text: text.to_owned(), is_known: true }
    }

    /// The words of a parsed command. `hole` is the text that is replaced before it runs.
    pub(super) fn of(command: &shell::Command, hole: Option<&str>) -> Vec<Self> {
        let is_open = |text: &str| hole.is_some_and(|hole| text.contains(hole));
        let argument = |word: &shell::Word| Self {
            text: word.text.clone(),
            is_known: !word.glob && !is_open(&word.text),
        };
        command.words.iter().map(argument).collect()
    }
}

impl AsRef<str> for Argument {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// The name of a program without its folder.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether a file's name is the standard input of the program that opens it.
pub(super) fn is_input(file: &str) -> bool {
    let path = crate::place::clean(file);
    if file == "-" || matches!(path.as_str(), "/dev/stdin" | "/dev/fd/0" | "/dev/tty") {
        return true;
    }
    // `/proc/self/fd/0`, `/proc/thread-self/fd/0`, `/proc/PID/fd/0`.
    path.starts_with("/proc/") && path.ends_with("/fd/0")
}

/// Splits a text as `env -S` does. `None` where it cannot be said what comes out.
pub(super) fn split_string(text: &str) -> Option<Vec<Argument>> {
    let mut words = Vec::new();
    let mut word: Option<Argument> = None;
    let mut quote = None;
    let mut characters: VecDeque<char> = text.chars().collect();
    while let Some(c) = characters.pop_front() {
        let push = |word: &mut Option<Argument>, c: char| {
            word.get_or_insert_with(|| Argument::known("")).text.push(c);
        };
        match (c, quote) {
            ('\'' | '"', Some(open)) if open == c => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_with(|| Argument::known(""));
            }
            ('\\', Some('\'')) => match characters.front() {
                Some('\\' | '\'') => push(&mut word, characters.pop_front()?),
                _ => push(&mut word, '\\'),
            },
            ('\\', quote) => match characters.pop_front()? {
                // An underscore is a blank: one that ends a word outside of quotes, and one that stays inside.
                '_' if quote.is_none() => words.extend(word.take()),
                '_' => push(&mut word, ' '),
                'c' if quote.is_none() => break,
                'f' => push(&mut word, '\u{c}'),
                'n' => push(&mut word, '\n'),
                'r' => push(&mut word, '\r'),
                't' => push(&mut word, '\t'),
                'v' => push(&mut word, '\u{b}'),
                c @ ('#' | '$' | '"' | '\'' | '\\') => push(&mut word, c),
                _ => return None,
            },
            ('$', None | Some('"')) => {
                while characters.pop_front()? != '}' {}
                word.get_or_insert_with(|| Argument::known("")).is_known = false;
            }
            ('#', None) if word.is_none() => break,
            (c, None) if c.is_ascii_whitespace() || c == '\u{b}' => words.extend(word.take()),
            (c, _) => push(&mut word, c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_as_env_does() {
        for (text, expect) in [
            ("rm x", Some(vec!["rm", "x"])),
            ("\\_rm\\_x", Some(vec!["rm", "x"])),
            ("'r'm\t\"a b\" c\\_d", Some(vec!["rm", "a b", "c", "d"])),
            ("\"a\\_b\" \\c ignored", Some(vec!["a b"])),
            ("a # comment", Some(vec!["a"])),
            ("'open", None),
            ("a\\q", None),
        ] {
            let words = split_string(text);
            let words = words.as_ref().map(|words| words.iter().map(AsRef::as_ref).collect::<Vec<&str>>());
            assert_eq!(words, expect, "{text}");
        }
        assert!(!split_string("${HOME}/x").unwrap()[0].is_known);
    }

    #[test]
    fn standard_input_has_many_names() {
        for name in ["-", "/dev/stdin", "/dev//stdin", "/dev/./fd/0", "/proc/self/fd/0", "/proc/12/fd/0"] {
            assert!(is_input(name), "{name}");
        }
        for name in ["x", "/dev/null", "/proc/self/fd/10", "stdin"] {
            assert!(!is_input(name), "{name}");
        }
    }
}
