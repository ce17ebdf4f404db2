//! The simple command that a scanner reads: its words so far, and the role of the next one.

use metier_shell::{assignment, precedes_command};

use super::super::hazard::{UnsafeCommand, Word};

/// The simple command that is being read.
#[derive(Debug, Default)]
pub(super) struct SimpleCommand {
    pub(super) words: Vec<Word>,
    pub(super) word: Option<Word>,
    /// The next word, or this one, is where a redirection leads.
    pub(super) redirects: bool,
    /// A `case` was seen, whose patterns have parentheses that nothing opened.
    pub(super) has_case: bool,
    /// How many nestings are open around it.
    pub(super) depth: usize,
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

impl SimpleCommand {
    /// Ends the current word. The hazard is an assignment to a subscript, which bash computes.
    pub(super) fn end_word(&mut self) -> Option<UnsafeCommand> {
        let word = self.word.take()?;
        if std::mem::take(&mut self.redirects) {
            return None;
        }
        let is_first = self.words.is_empty();
        self.has_case |= is_first && word.text == "case";
        let is_assignment = is_first && assignment(&word.text).is_some();
        let is_subscript = is_first && word.text.contains('[') && word.text.contains("]=");
        if is_subscript {
            return Some(UnsafeCommand::Arithmetic);
        }
        if !(is_assignment || is_first && precedes_command(&word.text)) {
            self.words.push(word);
        }
        None
    }

    /// What the current word is for.
    pub(super) fn role(&self) -> Role {
        let text = self.word.as_ref().map_or("", |word| word.text.as_str());
        match self.words.first().map(|word| word.text.as_str()) {
            _ if self.redirects => Role::Single,
            None if assignment(text).is_some() => Role::Single,
            None => Role::Program,
            Some("[[") => Role::Single,
            Some("case") if self.words.len() == 1 => Role::Single,
            Some(_) => Role::Argument,
        }
    }
}
