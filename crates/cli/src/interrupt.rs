//! Ctrl-C and its like for commands that make one call: the call ends in good order first, then metier.
//!
//! Signals belong to the process, so what is known of them here does, too.

use crate::keyboard;
use crate::signals;
use anyhow::Result;
use metier_sandbox::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::emulate_default_handler;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

/// What ends the call that runs, while one does.
static RUNNING: Mutex<Option<Cancel>> = Mutex::new(None);

/// The signal that ended a call; 0 where none did.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

/// A way to end calls, and whoever listens to signals for it.
pub(crate) fn listen() -> Result<Cancel> {
    let cancel = Cancel::new()?;
    signals::hear(&[SIGINT, SIGTERM, SIGHUP], |signal| {
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match running {
            // The second one ends metier at once, and with it everything that runs.
            Some(cancel) if CAUGHT.swap(signal, Ordering::SeqCst) == 0 => {
                cancel.cancel();
                // A question about a host may be open while the call waits for its answer.
                keyboard::interrupt();
            }
            _ => {
                keyboard::restore();
                drop(emulate_default_handler(signal));
            }
        }
    })?;
    Ok(cancel)
}

/// Makes a call; a signal meanwhile ends it by `cancel`. At other times, such as at a question, it ends metier.
pub(crate) fn during<T>(cancel: &Cancel, call: impl FnOnce() -> T) -> T {
    let set = |running| *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = running;
    set(Some(cancel.clone()));
    let result = call();
    set(None);
    result
}

/// Ends metier by the signal that ended its call, if one did: a shell stops its loop only then.
pub(crate) fn settle() {
    let signal = CAUGHT.load(Ordering::SeqCst);
    if signal != 0 {
        let _ = emulate_default_handler(signal);
    }
}
