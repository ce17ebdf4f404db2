//! A question at the terminal: shown whole, with the terminal to itself, asked until it is answered.

use crate::keyboard::{Answering, TypedBefore};
use crate::passing_line;
use crate::screen::{self, QUESTION_MARK, Screen, harmless};
use metier_runtime::Change;
use std::cell::RefCell;
use std::io::{self, Write};

/// What is asked: lines of metier's own and foreign text, and the answers to choose from.
pub(crate) struct Question {
    /// All that a yes is about.
    pub(crate) lines: Vec<String>,
    /// The answers, such as `[y]es  [n]o`.
    pub(crate) choices: String,
}

thread_local! {
    /// The change that the next question of this thread is about: it is announced first and asked about then.
    static CHANGE: RefCell<Option<Change>> = const { RefCell::new(None) };
}

/// Keeps a change for the question about it, which follows on the same thread.
pub(crate) fn attach(change: &Change) {
    CHANGE.set(Some(change.clone()));
}

/// The lines of the change at a place, where one was announced; any other that nobody asked about is forgotten.
pub(crate) fn attached(place: &str) -> Vec<String> {
    let change = CHANGE.take().filter(|change| change.path == place);
    change.map(|change| change.diff.lines().map(str::to_owned).collect()).unwrap_or_default()
}

/// Asks until `answer` takes what was typed, which it gets trimmed and in lower case. At the end of the input the answer is
/// `otherwise`. What does not fit on the screen is paged; before the last page was shown only `otherwise` can be given.
///
/// From the first line of the question until its answer nothing else is written to the terminal, and what was typed before the
/// choices appeared is no answer.
pub(crate) fn ask<T>(question: &Question, otherwise: T, answer: impl Fn(&str) -> Option<T>) -> io::Result<T> {
    let _hold = passing_line::hold();
    let mut screen = screen::lock();
    let answering = Answering::begin()?;
    if !show(&mut screen, &answering, &question.lines)? {
        return Ok(otherwise);
    }
    let prompt = format!("{QUESTION_MARK} {} > ", harmless(&question.choices));
    let mut before = TypedBefore::Dropped;
    loop {
        let Some(line) = answering.line(&mut screen, &prompt, before)? else { return Ok(otherwise) };
        if let Some(answer) = answer(&line.trim().to_lowercase()) {
            return Ok(answer);
        }
        before = TypedBefore::Counts;
    }
}

/// Asks for a text. `None` at the end of the input.
pub(crate) fn ask_text(lines: &[String]) -> io::Result<Option<String>> {
    let _hold = passing_line::hold();
    let mut screen = screen::lock();
    let answering = Answering::begin()?;
    if !show(&mut screen, &answering, lines)? {
        return Ok(None);
    }
    answering.line(&mut screen, &format!("{QUESTION_MARK} > "), TypedBefore::Dropped)
}

/// Asks for a yes; the last line stands before the choices. An empty line and the end of the input are a no.
pub(crate) fn is_yes(mut lines: Vec<String>) -> io::Result<bool> {
    let last = lines.pop().unwrap_or_default();
    let question = Question { lines, choices: format!("{last} [y]es [n]o") };
    ask(&question, false, |typed| Some(matches!(typed, "y" | "yes")))
}

/// Shows all lines, page by page. False where the person stopped before the last one.
fn show(screen: &mut Screen, answering: &Answering, lines: &[String]) -> io::Result<bool> {
    screen.begin_line()?;
    let rows = rows(lines, screen::size().0);
    // A page leaves room for the prompt below it, which may take two rows.
    let page = screen::size().1.saturating_sub(3).max(1);
    for (number, shown) in (1_usize..).zip(rows.chunks(page)) {
        for row in shown {
            writeln!(screen, "{row}")?;
        }
        let seen = (number * page).min(rows.len());
        if seen < rows.len() {
            let prompt = format!("{QUESTION_MARK} {seen} of {} lines; Enter shows more, [n]o > ", rows.len());
            // A yes counts once everything was shown; until then it only leads on.
            match answering.line(screen, &prompt, TypedBefore::Dropped)? {
                Some(line) if !matches!(line.trim().to_lowercase().as_str(), "n" | "no") => {}
                _ => return Ok(false),
            }
        }
    }
    Ok(true)
}

/// The rows of a terminal that the lines take, the mark before the first.
fn rows(lines: &[String], columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let mark = if number == 0 { format!("{QUESTION_MARK} ") } else { "  ".to_owned() };
        let mut row = mark;
        let mut width = 2;
        for character in harmless(line).chars() {
            // Wide characters take two columns; nothing that is shown takes more.
            let wide = 1 + usize::from(!character.is_ascii());
            if width + wide > columns && width > 2 {
                rows.push(std::mem::replace(&mut row, "  ".to_owned()));
                width = 2;
            }
            row.push(character);
            width += wide;
        }
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_whole_and_only_the_first_has_the_mark() {
        let lines = ["ab◆cdef".to_owned(), "日本".to_owned(), String::new()];
        assert_eq!(rows(&lines, 10), ["◆ ab\\u{25c", "  6}cdef", "  日本", "  "]);
        assert_eq!(rows(&["abc".to_owned()], 1), ["◆ a", "  b", "  c"]);
    }
}
