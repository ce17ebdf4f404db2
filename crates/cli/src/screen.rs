//! The terminal: one writer at a time, and only the question while one is open.
//!
//! Every byte that metier writes to standard output or standard error passes through [`lock`]. A question holds the lock until it
//! is answered, so whatever else wants to write waits: status lines, sub-agents, and a script whose pipe then fills.

use metier_diagnostic::{Paint, visible};
use rustix::termios::{isatty, tcgetwinsize};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, StderrLock, Write};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// The mark in front of a question. [`harmless`] shows it as an escape in every text that is not metier's own, so no output of a script or a model can have it.
pub(crate) const QUESTION_MARK: char = '◆';

/// The size of a terminal that does not say how large it is.
const DEFAULT_SIZE: (usize, usize) = (80, 24);

/// Whether the cursor is in the middle of a line. Changed only under the lock.
static IS_MID_LINE: AtomicBool = AtomicBool::new(false);

/// The exclusive right to write to the terminal. The thread that holds it may take it again.
pub(crate) struct Screen {
    // The standard library's own lock, so that a panic's message waits for it, too.
    err: StderrLock<'static>,
}

/// Waits until no other thread writes.
pub(crate) fn lock() -> Screen {
    Screen { err: io::stderr().lock() }
}

impl Screen {
    /// Writes to standard output, at once.
    #[expect(clippy::unused_self, reason = "having a screen is holding its lock")]
    pub(crate) fn out(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        if out_is_terminal() {
            moved(bytes);
        }
        Ok(())
    }

    /// Records that the cursor is at the beginning of an empty line.
    #[expect(clippy::unused_self, reason = "having a screen is holding its lock")]
    pub(crate) fn is_at_beginning(&mut self) {
        IS_MID_LINE.store(false, Ordering::Relaxed);
    }

    /// Ends a line that another writer has begun, so that the next text starts at the beginning of one.
    pub(crate) fn begin_line(&mut self) -> io::Result<()> {
        if IS_MID_LINE.swap(false, Ordering::Relaxed) {
            self.err.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// Standard error.
impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.err.write(bytes)?;
        if err_is_terminal() {
            moved(bytes.get(..written).unwrap_or_default());
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.err.flush()
    }
}

fn moved(bytes: &[u8]) {
    if let Some(last) = bytes.last() {
        IS_MID_LINE.store(*last != b'\n', Ordering::Relaxed);
    }
}

/// Writes a line to standard error. A closed one does not stop the command.
pub(crate) fn err_line(text: impl Display) {
    let _ = writeln!(lock(), "{text}");
}

/// Writes a line to standard output, at once.
pub(crate) fn out_line(text: impl Display) {
    let _ = lock().out(format!("{text}\n").as_bytes());
}

/// Leaves the terminal as a shell expects it, when the process is about to end by a signal. Without the lock: a question that is
/// open must not keep the process from ending.
pub(crate) fn leave() {
    // Pasted text is no longer marked as such.
    let _ = rustix::io::write(rustix::stdio::stderr(), b"\x1b[?2004l\n");
}

pub(crate) fn out_is_terminal() -> bool {
    isatty(rustix::stdio::stdout())
}

pub(crate) fn err_is_terminal() -> bool {
    isatty(rustix::stdio::stderr())
}

/// Columns and rows of the terminal.
pub(crate) fn size() -> (usize, usize) {
    let of = |descriptor: BorrowedFd<'_>| {
        let size = tcgetwinsize(descriptor).ok()?;
        Some((usize::from(size.ws_col), usize::from(size.ws_row)))
    };
    let (columns, rows) = of(rustix::stdio::stderr()).unwrap_or_default();
    (if columns == 0 { DEFAULT_SIZE.0 } else { columns }, if rows == 0 { DEFAULT_SIZE.1 } else { rows })
}

/// A foreign text as one line that does nothing but being seen.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    match visible(text) {
        Cow::Borrowed(text) => without_mark(text),
        Cow::Owned(text) => Cow::Owned(without_mark(&text).into_owned()),
    }
}

/// A text with the mark of questions shown as an escape.
pub(crate) fn without_mark(text: &str) -> Cow<'_, str> {
    if !text.contains(QUESTION_MARK) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(QUESTION_MARK, &QUESTION_MARK.escape_unicode().to_string()))
}

/// Foreign text of several lines: each harmless, their ends kept.
pub(crate) fn harmless_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let end = if line.ends_with("\r\n") { "\r\n" } else { line.strip_suffix('\n').map_or("", |_| "\n") };
        shown.push_str(&harmless(line.strip_suffix(end).unwrap_or(line)));
        shown.push_str(end);
    }
    shown
}

/// One line that metier made, with foreign text in it: as [`harmless`], but for the colours of [`crate::output::Tone`].
pub(crate) fn own_line(text: &str, paint: Paint, colours: &[String]) -> String {
    if paint == Paint::Plain {
        return harmless(text).into_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        let (before, from) = rest.split_at(at);
        shown.push_str(&harmless(before));
        let colour = colours.iter().find(|colour| from.starts_with(colour.as_str()));
        let end = colour.map_or(1, String::len);
        let (escape, after) = from.split_at(end);
        match colour {
            Some(colour) => shown.push_str(colour),
            None => shown.push_str(&harmless(escape)),
        }
        rest = after;
    }
    shown.push_str(&harmless(rest));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_has_no_mark_and_moves_nothing() {
        assert_eq!(harmless("a◆b\u{1b}[2J\n"), "a\\u{25c6}b\\u{1b}[2J\\n");
        assert_eq!(harmless_lines("a\r\nb\rc\n◆"), "a\r\nb\\rc\n\\u{25c6}");
    }

    #[test]
    fn only_known_colours_pass() {
        let colours = ["\x1b[1m".to_owned(), "\x1b[0m".to_owned()];
        let text = "\x1b[1ma\x1b[0m \x1b[8mhidden\n";
        assert_eq!(own_line(text, Paint::Colour, &colours), "\x1b[1ma\x1b[0m \\u{1b}[8mhidden\\n");
        assert_eq!(own_line(text, Paint::Plain, &colours), "\\u{1b}[1ma\\u{1b}[0m \\u{1b}[8mhidden\\n");
    }
}
