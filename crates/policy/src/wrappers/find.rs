//! The commands in an expression of `find`, and after the options of `fd`.

use super::argument::Argument;
use super::options::{Style, Takes, read};

/// The actions of `find` that start a program.
const ACTIONS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

/// Each command, with the words that are filled in as they stand there.
///
/// `options` are those of `fd`, whose command goes to the end of the words; `find` has none.
pub(super) fn commands<'a>(options: &str, words: &'a [Argument]) -> Vec<&'a [Argument]> {
    let until_end = |words: &'a [Argument]| {
        let end =
            words.iter().position(|word| matches!(word.text.as_str(), ";" | "+")).unwrap_or(words.len());
        words.get(..end).unwrap_or_default()
    };
    if options.is_empty() {
        let is_action = |word: &Argument| ACTIONS.contains(&word.text.as_str());
        let starts = words.iter().enumerate().filter(|(_, word)| is_action(word));
        return starts.filter_map(|(at, _)| words.get(at + 1..).map(until_end)).collect();
    }
    let read = read(options, words, 0, Style::Anywhere);
    let programs = read.given.iter().filter(|given| given.takes == Takes::Program);
    // The program itself is the word before the one that follows the option, unless it is attached.
    programs.filter_map(|given| words.get(given.next.saturating_sub(1)..).map(until_end)).collect()
}
