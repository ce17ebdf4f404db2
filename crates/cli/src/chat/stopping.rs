//! Ctrl-C in a chat: it stops what the agent does, and not metier.

use crate::keyboard;
use crate::screen;
use anyhow::Result;
use metier_agent::CancelToken;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::{Arc, Mutex, PoisonError};

/// What stops the message that is worked on, while one is.
#[derive(Clone, Default)]
pub(crate) struct Stopping {
    current: Arc<Mutex<Option<CancelToken>>>,
}

/// A message is worked on as long as this lasts.
pub(crate) struct During<'a>(&'a Stopping);

/// What Ctrl-C means while nothing is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    /// Nothing: there is a prompt, which knows the key itself.
    Nothing,
    /// The end, as for every program.
    TheEnd,
}

impl Stopping {
    /// Listens to signals from now on.
    pub(crate) fn listen(between: Between) -> Result<Self> {
        let stopping = Self::default();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        // A prompt changes the terminal, and whoever is told to end has no time to end it well.
        let terminal = tcgetattr(rustix::stdio::stdin()).ok();
        let heard = stopping.clone();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in &mut signals {
                heard.take(signal, between, terminal.as_ref());
            }
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

    fn take(&self, signal: i32, between: Between, terminal: Option<&Termios>) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match (signal, current) {
            // The first one ends the turn in good order. Where that takes too long the second one ends metier, and with it
            // everything that runs.
            (SIGINT, Some(cancel)) if !cancel.is_cancelled() => {
                cancel.cancel();
                keyboard::interrupt();
            }
            (SIGINT, None) if between == Between::Nothing => {}
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
