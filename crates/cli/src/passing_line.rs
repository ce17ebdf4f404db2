//! A line at the terminal that gives way to whatever is said next: what a program writes while it runs.

use crate::environment;
use crate::output::{Tone, shortened, tinted};
use crate::screen;
use metier_diagnostic::Paint;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Goes to the beginning of the line and leaves it empty.
const EMPTY: &str = "\r\x1b[2K";

/// Whether there is such a line now. Changed only by whoever holds the screen.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// How many questions are open. Such a line is worth nothing later, so it is left out instead of waiting for the screen: a program
/// that writes it runs on, and its time limit holds.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Whether there can be such lines: somebody reads along, at a terminal that can take one back.
pub(crate) fn is_possible() -> bool {
    screen::err_is_terminal() && environment::moves_cursor()
}

/// Shows a text in the place of the one before, cut to the terminal's width: a line that is broken into two cannot be taken back.
pub(crate) fn show(text: &str, paint: Paint) {
    if text.is_empty() || HELD.load(Ordering::Relaxed) > 0 {
        return;
    }
    let mut screen = screen::lock();
    // A question may have come and gone while this waited, or this thread itself asks it.
    if HELD.load(Ordering::Relaxed) > 0 {
        return;
    }
    let line = fitted(text, screen::size().0.saturating_sub(1));
    let _ = write!(screen, "{EMPTY}{}", tinted(paint, Tone::Dim, &line));
    IS_SHOWN.store(true, Ordering::Relaxed);
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
    let mut screen = screen::lock();
    if IS_SHOWN.swap(false, Ordering::Relaxed) {
        // After it the cursor stands at the beginning of the line, where somebody else's line may not have ended.
        let _ = write!(screen, "{EMPTY}");
        screen.is_at_beginning();
    }
}

/// Takes the line back and keeps others from coming as long as it is held: somebody is asked something.
pub(crate) fn hold() -> Hold {
    HELD.fetch_add(1, Ordering::Relaxed);
    clear();
    Hold
}

/// The terminal is somebody's own.
pub(crate) struct Hold;

impl Drop for Hold {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::Relaxed);
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
