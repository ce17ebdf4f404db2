//! A question at the terminal: shown whole, with the terminal to itself, asked until it is answered.

use crate::keyboard::{Answering, TypedBefore};
use crate::passing_line;
use crate::screen::{self, QUESTION_MARK, Screen, harmless};
use std::io::{self, Write};

/// What is asked: lines of metier's own and foreign text, and the answers to choose from.
#[derive(Default)]
pub(crate) struct Question {
    /// All that a yes is about.
    pub(crate) lines: Vec<String>,
    /// The answers, such as `[y]es  [n]o`.
    pub(crate) choices: String,
    /// The changed lines. Where there are some, the answer `d` shows them, and the question is put again.
    pub(crate) diff: Vec<String>,
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
    if show(&mut screen, &answering, &question.lines, Shown::Question)? != Paged::All {
        return Ok(otherwise);
    }
    let prompt = format!("{QUESTION_MARK} {} > ", harmless(&question.choices));
    let mut before = TypedBefore::Dropped;
    loop {
        let Some(line) = answering.line(&mut screen, &prompt, before)? else { return Ok(otherwise) };
        let line = line.trim().to_lowercase();
        if matches!(line.as_str(), "d" | "diff") && !question.diff.is_empty() {
            if show(&mut screen, &answering, &question.diff, Shown::Diff)? == Paged::Ended {
                return Ok(otherwise);
            }
            // What was typed while the lines were shown was meant for them.
            before = TypedBefore::Dropped;
            continue;
        }
        if let Some(answer) = answer(&line) {
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
    if show(&mut screen, &answering, lines, Shown::Question)? != Paged::All {
        return Ok(None);
    }
    answering.line(&mut screen, &format!("{QUESTION_MARK} > "), TypedBefore::Dropped)
}

/// Asks for a yes; the last line stands before the choices. An empty line and the end of the input are a no.
pub(crate) fn is_yes(lines: Vec<String>) -> io::Result<bool> {
    is_yes_to_changes(lines, Vec::new())
}

/// The same with changed lines, which the answer `d` shows.
pub(crate) fn is_yes_to_changes(mut lines: Vec<String>, diff: Vec<String>) -> io::Result<bool> {
    let last = lines.pop().unwrap_or_default();
    let more = if diff.is_empty() { "" } else { " [d]iff" };
    let question = Question { lines, choices: format!("{last} [y]es{more} [n]o"), diff };
    ask(&question, false, |typed| Some(matches!(typed, "y" | "yes")))
}

/// What is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// What a yes is about.
    Question,
    /// Lines that the person asked for before answering.
    Diff,
}

/// How much of it was shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paged {
    All,
    /// The person had enough.
    Part,
    /// The input ended, or was interrupted.
    Ended,
}

/// Shows all lines, page by page.
fn show(screen: &mut Screen, answering: &Answering, lines: &[String], what: Shown) -> io::Result<Paged> {
    screen.begin_line()?;
    let rows = rows(lines, screen::size().0, what);
    let (stop, words) = match what {
        Shown::Question => ("[n]o", ["n", "no"]),
        Shown::Diff => ("[q]uit", ["q", "quit"]),
    };
    // A page leaves room for the prompt below it, which may take two rows.
    let page = screen::size().1.saturating_sub(3).max(1);
    for (number, shown) in (1_usize..).zip(rows.chunks(page)) {
        for row in shown {
            writeln!(screen, "{row}")?;
        }
        let seen = (number * page).min(rows.len());
        if seen < rows.len() {
            let prompt =
                format!("{QUESTION_MARK} {seen} of {} lines; Enter shows more, {stop} > ", rows.len());
            // A yes counts once everything was shown; until then it only leads on.
            match answering.line(screen, &prompt, TypedBefore::Dropped)? {
                Some(line) if words.contains(&line.trim().to_lowercase().as_str()) => return Ok(Paged::Part),
                Some(_) => {}
                None => return Ok(Paged::Ended),
            }
        }
    }
    Ok(Paged::All)
}

/// The rows of a terminal that the lines take, the mark before the first of a question.
fn rows(lines: &[String], columns: usize, what: Shown) -> Vec<String> {
    let mut rows = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let is_marked = number == 0 && what == Shown::Question;
        let mark = if is_marked { format!("{QUESTION_MARK} ") } else { "  ".to_owned() };
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
        assert_eq!(rows(&lines, 10, Shown::Question), ["◆ ab\\u{25c", "  6}cdef", "  日本", "  "]);
        assert_eq!(rows(&["abc".to_owned()], 1, Shown::Question), ["◆ a", "  b", "  c"]);
    }
}
