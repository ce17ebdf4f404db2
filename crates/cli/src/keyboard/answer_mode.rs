//! The terminal while a question waits for its answer.
//!
//! Ctrl-C usually comes as a signal, to another thread and at another time than the keys around it: a "y" typed right after it
//! could be read first. Here it is a key like any other, read in the order in which it was typed, and turned into the signal then.

use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::sync::{Mutex, PoisonError};

/// A key code that no key has.
const DISABLED: u8 = 0;

/// The terminal as it was before, while it is changed. There is one terminal, so there is one of these.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// The terminal as long as one answer is read.
pub(super) struct AnswerMode {
    /// The key that interrupts; `None` where the input is not a terminal.
    pub(super) interrupt: Option<u8>,
}

impl AnswerMode {
    pub(super) fn begin() -> Self {
        let Ok(before) = tcgetattr(stdin()) else { return Self { interrupt: None } };
        let interrupt = before.special_codes[SpecialCodeIndex::VINTR];
        if interrupt == DISABLED {
            return Self { interrupt: None };
        }
        let mut during = before.clone();
        during.special_codes[SpecialCodeIndex::VINTR] = DISABLED;
        // It ends a line, so it is read at once and not after Enter.
        during.special_codes[SpecialCodeIndex::VEOL] = interrupt;
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        let _ = tcsetattr(stdin(), OptionalActions::Now, &during);
        Self { interrupt: Some(interrupt) }
    }
}

impl Drop for AnswerMode {
    fn drop(&mut self) {
        restore();
    }
}

/// Leaves the terminal as it was before the question, if one is open. Also for a process that is about to end by a signal.
pub(crate) fn restore() {
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
    }
}
