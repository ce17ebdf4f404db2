//! Patterns of commands: what stands in `Bash(…)` and behind `command:`.

use crate::shell::{self, Command, Refusal, Word, quoted};
use std::fmt;

/// Which commands are meant: `git:*`, `git diff:*`, `git *`, `git status`, `*`.
///
/// Words are compared with words, from the first on, after quotes are removed on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommandPattern {
    words: Vec<String>,
    /// Whether any further words may follow.
    is_open: bool,
}

/// A text that is no pattern; it can never match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// There is nothing in it.
    #[error("the pattern names no command; write one such as `git status` or `git:*`")]
    Empty,
    /// It is more than literal words.
    #[error("{0}")]
    NotLiteral(Refusal),
}

impl CommandPattern {
    /// Reads a pattern.
    ///
    /// `:*` or a blank and `*` at the end stand for any further words, none included; without them the command has to be
    /// exactly these words. `*` alone is every command.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let text = text.trim_matches([' ', '\t']);
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        if text == "*" {
            return Ok(Self { words: Vec::new(), is_open: true });
        }
        let head = text.strip_suffix('*').and_then(|head| head.strip_suffix([':', ' ', '\t']));
        let words = head.unwrap_or(text);
        if words.trim_matches([' ', '\t']).is_empty() {
            return Err(PatternError::Empty);
        }
        let words = shell::literal_words(words).map_err(PatternError::NotLiteral)?;
        Ok(Self { words, is_open: head.is_some() })
    }

    /// Whether this command is meant. A glob stands for words that are not known yet, so it equals no word of a pattern.
    pub fn matches(&self, command: &Command) -> bool {
        self.fits(&command.words, |word: &Word| (!word.glob).then_some(word.text.as_str()))
    }

    /// Whether this command is meant, or could be once its globs are expanded: `rm s*` could be `rm src`. What forbids
    /// asks this, since a deny rule must not be passed by writing less of a name.
    pub fn could_match(&self, command: &Command) -> bool {
        let named = command.words.iter().take(self.words.len());
        // One glob may become several words, so behind the first one nothing is known.
        let known = named.clone().take_while(|word| !word.glob).count();
        if known < named.len() {
            return self.words.iter().zip(&command.words).take(known).all(|(own, word)| *own == word.text);
        }
        self.matches(command)
    }

    /// Whether a command of these words is meant.
    pub fn matches_argv(&self, argv: &[impl AsRef<str>]) -> bool {
        self.fits(argv, |word| Some(word.as_ref()))
    }

    /// Whether the command's name is this word.
    pub(crate) fn begins_with(&self, name: &str) -> bool {
        self.words.first().is_none_or(|own| own == name)
    }

    /// The program's name, where the pattern names one.
    pub(crate) fn name(&self) -> Option<&str> {
        self.words.first().map(String::as_str)
    }

    /// Whether a command that begins with these words, and goes on with words that nobody knows, could be meant.
    pub(crate) fn could_begin(&self, known: &[&str]) -> bool {
        known.len() < self.words.len().max(1) && self.words.iter().zip(known).all(|(own, word)| own == word)
    }

    /// Whether a command of these words is meant once the options before what it is told are left out: `git -C x push` is
    /// `git push`. Whether an option takes the word behind it is the program's to know, so both are tried. For what forbids.
    pub(crate) fn matches_behind_options(&self, argv: &[&str]) -> bool {
        let ([name, told @ ..], [program, rest @ ..]) = (self.words.as_slice(), argv) else { return false };
        let is_named = name == program || program.rsplit('/').next() == Some(name);
        if told.is_empty() || !is_named {
            return false;
        }
        let told = Self { words: told.to_vec(), is_open: self.is_open };
        let mut may_take = false;
        for (at, word) in rest.iter().enumerate() {
            if at > 0 && rest.get(at..).is_some_and(|rest| told.matches_argv(rest)) {
                return true;
            }
            if word.starts_with(['-', '+']) {
                may_take = !word.contains('=') && word.starts_with('-');
            } else if may_take {
                may_take = false;
            } else {
                return false;
            }
        }
        false
    }

    fn fits<'a, W>(&self, words: &'a [W], text: impl Fn(&'a W) -> Option<&'a str>) -> bool {
        let is_length = words.len() == self.words.len() || (self.is_open && words.len() > self.words.len());
        // A command has a name, so no words at all are no command.
        is_length
            && !words.is_empty()
            && self.words.iter().zip(words).all(|(own, word)| text(word) == Some(own.as_str()))
    }
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(self.words.iter().map(String::as_str)))?;
        f.write_str(match (self.is_open, self.words.is_empty()) {
            (false, _) => "",
            (true, true) => "*",
            (true, false) => ":*",
        })
    }
}
