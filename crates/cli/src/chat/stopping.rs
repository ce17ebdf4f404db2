//! Ctrl-C in a chat: it stops what the agent does, and not metier.

use crate::keyboard;
use crate::screen;
use crate::signals;
use anyhow::Result;
use metier_agent::CancelToken;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::{Arc, Mutex, PoisonError};

/// What stops the message that is worked on, while one is.
#[derive(Clone, Default)]
pub(crate) struct Stopping {
    current: Arc<Mutex<Option<CancelToken>>>,
}

/// A message is worked on as long as this lasts.
pub(crate) struct During<'a>(&'a Stopping);

impl Stopping {
    /// Listens to signals from now on. Where there is a prompt, it knows Ctrl-C itself while nothing is worked on.
    pub(crate) fn listen(has_prompt: bool) -> Result<Self> {
        let stopping = Self::default();
        // A prompt changes the terminal, and whoever is told to end has no time to end it well.
        let terminal = tcgetattr(rustix::stdio::stdin()).ok();
        let heard = stopping.clone();
        signals::hear(&[SIGINT, SIGTERM, SIGHUP], move |signal| {
            heard.take(signal, has_prompt, terminal.as_ref());
        })?;
        Ok(stopping)
    }

    /// A message begins.
    pub(crate) fn during(&self, cancel: &CancelToken) -> During<'_> {
        self.set(Some(cancel.clone()));
        During(self)
    }

    fn set(&self, cancel: Option<CancelToken>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = cancel;
    }

    fn take(&self, signal: i32, has_prompt: bool, terminal: Option<&Termios>) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match (signal, current) {
            // The first one ends the turn in good order. Where that takes too long the second one ends metier, and with it
            // everything that runs.
            (SIGINT, Some(cancel)) if !cancel.is_cancelled() => {
                cancel.cancel();
                keyboard::interrupt();
            }
            (SIGINT, None) if has_prompt => {}
            _ => {
                if let Some(terminal) = terminal {
                    let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, terminal);
                    screen::leave();
                }
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    }
}

impl Drop for During<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}
