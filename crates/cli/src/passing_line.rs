//! A line at the terminal that gives way to whatever is said next: what a program writes while it runs.

use crate::environment;
use crate::output::{Tone, shortened, tinted};
use metier_diagnostic::Paint;
use rustix::stdio::stderr;
use rustix::termios::{isatty, tcgetwinsize};
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The width of a terminal that does not say how wide it is.
const USUAL_WIDTH: usize = 80;

/// Goes to the beginning of the line and leaves it empty.
const EMPTY: &str = "\r\x1b[2K";

/// There is one terminal, and several threads that write to it: the run, and whoever asks on behalf of a script.
static STATE: Mutex<State> = Mutex::new(State { is_shown: false, held: 0 });

struct State {
    /// Whether there is such a line now.
    is_shown: bool,
    /// How many need the terminal for themselves.
    held: usize,
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether there can be such lines: somebody reads along, at a terminal that can take one back.
pub(crate) fn is_possible() -> bool {
    isatty(stderr()) && environment::moves_cursor()
}

/// Shows a text in the place of the one before, cut to the terminal's width: a line that is broken into two cannot be taken back.
pub(crate) fn show(text: &str, paint: Paint) {
    let mut state = state();
    if state.held > 0 || text.is_empty() {
        return;
    }
    let width = tcgetwinsize(stderr()).map_or(0, |size| usize::from(size.ws_col));
    let width = if width == 0 { USUAL_WIDTH } else { width };
    let line = fitted(text, width.saturating_sub(1));
    let _ = write!(io::stderr().lock(), "{EMPTY}{}", tinted(paint, Tone::Dim, &line));
    state.is_shown = true;
}

/// A stranger's text in so many columns. Wide characters take two; nothing that is shown takes more.
fn fitted(text: &str, columns: usize) -> String {
    let harmless = shortened(text.trim(), columns);
    let mut left = columns;
    let wide = |character: char| 1 + usize::from(!character.is_ascii());
    harmless
        .chars()
        .take_while(|character| {
            let is_room = left >= wide(*character);
            left = left.saturating_sub(wide(*character));
            is_room
        })
        .collect()
}

/// Takes the line back, if there is one.
pub(crate) fn clear() {
    take_back(&mut state());
}

fn take_back(state: &mut State) {
    if std::mem::take(&mut state.is_shown) {
        let _ = write!(io::stderr().lock(), "{EMPTY}");
    }
}

/// Takes the line back and keeps others from coming as long as it is held: somebody is asked something.
pub(crate) fn hold() -> Hold {
    let mut state = state();
    take_back(&mut state);
    state.held += 1;
    Hold
}

/// The terminal is somebody's own.
pub(crate) struct Hold;

impl Drop for Hold {
    fn drop(&mut self) {
        let mut state = state();
        state.held = state.held.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_harmless_and_fits() {
        for (text, columns, expect) in [
            ("  short \n", 10, "short"),
            ("0123456789", 10, "0123456789"),
            ("0123456789a", 10, "012345678"),
            ("日本語日本語", 6, "日本語"),
            ("a\x1b[2Jb", 20, "a\\u{1b}[2Jb"),
        ] {
            assert_eq!(fitted(text, columns), expect, "{text:?}");
        }
    }
}
