//! The simple command that a scanner reads: its words so far, and the role of the next one.

use super::super::hazard::{UnsafeCommand, Word};
use crate::render::token::is_word;

/// The simple command that is being read.
#[derive(Debug, Default)]
pub(super) struct SimpleCommand {
    pub(super) words: Vec<Word>,
    pub(super) word: Option<Word>,
    /// The next word, or this one, is where a redirection leads.
    pub(super) redirects: bool,
    /// A `case` was seen, whose patterns have parentheses that nothing opened.
    pub(super) has_case: bool,
}

/// What is known of the current word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The name of a program.
    Program,
    /// `name=…`, a redirection's target, what `case` looks at, a part of `[[ … ]]`: the shell does not split it.
    Single,
    /// Any other word.
    Argument,
}

/// Words of the shell's grammar after which a command begins.
const BEFORE_COMMAND: &[&str] =
    &["!", "{", "coproc", "do", "elif", "else", "if", "then", "time", "until", "while"];

impl SimpleCommand {
    /// Ends the current word. The hazard is an assignment to a subscript, which bash computes.
    pub(super) fn end_word(&mut self) -> Option<UnsafeCommand> {
        let word = self.word.take()?;
        if std::mem::take(&mut self.redirects) {
            return None;
        }
        let is_first = self.words.is_empty();
        self.has_case |= is_first && word.text == "case";
        let is_assignment = is_first && is_assignment(&word.text);
        let is_subscript = is_first && word.text.contains('[') && word.text.contains("]=");
        if is_subscript {
            return Some(UnsafeCommand::Arithmetic);
        }
        if !(is_assignment || is_first && BEFORE_COMMAND.contains(&word.text.as_str())) {
            self.words.push(word);
        }
        None
    }

    /// Drops the current word where it is the number of a redirection: `2>` has a number, not a word.
    pub(super) fn drop_number(&mut self) {
        let is_number = |word: &Word| {
            let is_digits = word.text.bytes().all(|byte| byte.is_ascii_digit());
            !word.has_value && !word.text.is_empty() && is_digits
        };
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
    }

    /// What the current word is for.
    pub(super) fn role(&self) -> Role {
        let text = self.word.as_ref().map_or("", |word| word.text.as_str());
        match self.words.first().map(|word| word.text.as_str()) {
            _ if self.redirects => Role::Single,
            None if is_assignment(text) => Role::Single,
            None => Role::Program,
            Some("[[") => Role::Single,
            Some("case") if self.words.len() == 1 => Role::Single,
            Some(_) => Role::Argument,
        }
    }
}

/// `name=…` or `name+=…`.
fn is_assignment(text: &str) -> bool {
    let length = text.bytes().take_while(|byte| is_word(*byte)).count();
    let begins = text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    begins && length > 0 && (text[length..].starts_with('=') || text[length..].starts_with("+="))
}
