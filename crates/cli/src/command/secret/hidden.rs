//! A line that is typed without being shown.

use crate::screen;
use anyhow::{Context, Result, bail};
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use std::io::{self, Write};
use std::thread::JoinHandle;

/// A terminal gives at most this much of one line; Linux cuts the rest off without a word.
const MAX_LINE: usize = 4096;

/// Asks on standard error and reads a line from the terminal, without its end.
pub(super) fn line(prompt: &str) -> Result<Vec<u8>> {
    let silence = Silence::begin(prompt).context("the terminal cannot be kept from showing what is typed")?;
    say(prompt);
    let read = typed();
    silence.end();
    let bytes = read.context("the terminal cannot be read")?;
    if bytes.len() >= MAX_LINE - 1 {
        bail!(
            "a terminal takes lines of at most {} bytes; give a longer value through a pipe or a file",
            MAX_LINE - 2
        );
    }
    Ok(bytes)
}

/// Read without the standard library's buffer, which would keep a copy.
fn typed() -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; MAX_LINE];
    let mut length = 0;
    while let Some(room) = bytes.get_mut(length..).filter(|room| !room.is_empty()) {
        match rustix::io::read(stdin(), room) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        if bytes.get(length - 1) == Some(&b'\n') {
            length -= 1;
            break;
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

fn say(text: &str) {
    let _ = screen::lock().write_all(text.as_bytes());
}

/// The terminal shows nothing of what is typed while this is there; afterwards it does again, also when a signal ends or
/// stops us: a shell whose terminal stays silent looks broken.
struct Silence {
    before: Termios,
    signals: Handle,
    waiting: JoinHandle<()>,
}

impl Silence {
    fn begin(prompt: &str) -> io::Result<Self> {
        let before = tcgetattr(stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        // The end of the line is shown, so that what comes next begins on a new one.
        silent.local_modes.insert(LocalModes::ECHONL);
        // Before the first change, so that there is no moment in which a signal finds a silent terminal.
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP])?;
        let handle = signals.handle();
        let (loud, quiet, prompt) = (before.clone(), silent.clone(), prompt.to_owned());
        let wait = move || {
            for signal in signals.forever() {
                let _ = tcsetattr(stdin(), OptionalActions::Now, &loud);
                say("\n");
                let _ = emulate_default_handler(signal);
                // Only a stop comes back here, when the user goes on.
                let _ = tcsetattr(stdin(), OptionalActions::Flush, &quiet);
                say(&prompt);
            }
        };
        let waiting = std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
        let silence = Self { before, signals: handle, waiting };
        // What was typed ahead was shown: it is thrown away.
        if let Err(error) = tcsetattr(stdin(), OptionalActions::Flush, &silent) {
            silence.end();
            return Err(error.into());
        }
        Ok(silence)
    }

    fn end(self) {
        self.signals.close();
        let _ = self.waiting.join();
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}
