//! What the user types, and who gets it: a question, or nobody yet.
//!
//! A line that is typed before a question appears must not answer it: a "y" meant for something else would be a yes to whatever
//! comes next. So [`Answering`] throws away what was typed before. In a chat [`Listening`] reads the terminal during a turn and keeps
//! whole lines as the next messages.

mod answer_mode;

pub(crate) use self::answer_mode::restore;

use self::answer_mode::AnswerMode;
use crate::screen::{self, Screen};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;
use rustix::termios::{QueueSelector, isatty, tcdrain, tcflush};
use signal_hook::consts::SIGINT;
use signal_hook::low_level::raise;
use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// The longest line that is kept while the agent works. A terminal gives 4,096 bytes at most; what is longer is pasted by
/// something that is no terminal.
const MAX_LINE: usize = 1 << 20;

/// How many messages wait at most. More is a file that was pasted by mistake.
const MAX_WAITING: usize = 100;

/// How long a question waits until the interrupt it read has been heard. It takes microseconds; where it is not heard at all, the
/// answer is a no all the same.
const INTERRUPT_TIMEOUT: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// Who listens right now. There is one terminal, so there is one of these.
static LISTENER: Mutex<Option<Arc<Shared>>> = Mutex::new(None);

/// Wakes the question that is open outside of a chat, where one is.
static OPEN: Mutex<Option<Arc<OwnedFd>>> = Mutex::new(None);

/// Whether somebody sits at the terminal.
pub(crate) fn can_ask() -> bool {
    isatty(stdin()) && screen::err_is_terminal()
}

/// Reads the answers to one question. Whoever asks reads the terminal, in a chat too: the listener may wait for the screen, which
/// the question has.
pub(crate) struct Answering {
    woken: Arc<OwnedFd>,
    /// Keeps the listener of a chat from reading.
    _pause: Option<Pause>,
}

/// What happens to what was typed before a prompt appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypedBefore {
    /// It is thrown away: it was meant for something else.
    Dropped,
    /// It counts: the same question is put again.
    Counts,
}

impl Answering {
    pub(crate) fn begin() -> io::Result<Self> {
        let woken = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        *lock(&OPEN) = Some(Arc::clone(&woken));
        let listener = lock(&LISTENER).clone();
        Ok(Self { woken, _pause: listener.map(Pause::begin) })
    }

    /// Writes a prompt and takes the next line. `None` if the input ended or was interrupted.
    pub(crate) fn line(
        &self,
        screen: &mut Screen,
        prompt: &str,
        before: TypedBefore,
    ) -> io::Result<Option<String>> {
        if before == TypedBefore::Dropped {
            // What stands above the prompt has been shown by then.
            screen.flush()?;
            let _ = tcdrain(rustix::stdio::stderr());
            forget_typed();
        }
        // Only now, so that Ctrl-C is never among what is thrown away.
        let mode = AnswerMode::begin();
        screen.write_all(prompt.as_bytes())?;
        screen.flush()?;
        let line = read_line(&self.woken, &mode)?;
        drop(mode);
        if line.is_empty() {
            writeln!(screen)?;
            return Ok(None);
        }
        // The terminal has shown the end of the line that was typed.
        screen.is_at_beginning();
        Ok(Some(line))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        *lock(&OPEN) = None;
    }
}

/// Throws away what was typed and not read. Where the input is no terminal nothing is thrown away.
fn forget_typed() {
    let _ = tcflush(stdin(), QueueSelector::IFlush);
}

/// Reads a line. Empty at the end of the input, when it is woken, and on Ctrl-C. Without the standard library's buffer, which may
/// hold what was typed before.
fn read_line(woken: &OwnedFd, mode: &AnswerMode) -> io::Result<String> {
    let (terminal, mut line, mut byte) = (stdin(), Vec::new(), [0_u8; 1]);
    while line.last() != Some(&b'\n') && line.len() < MAX_LINE {
        let mut fds = [PollFd::new(&terminal, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        if !fds[1].revents().is_empty() {
            return Ok(String::new());
        }
        match rustix::io::read(terminal, &mut byte) {
            Ok(0) => break,
            Ok(_) if mode.interrupt == Some(byte[0]) => {
                interrupted(woken);
                return Ok(String::new());
            }
            Ok(_) => line.push(byte[0]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// Ctrl-C was typed: the whole program hears of it, as it does at other times. What ends by it has ended when this returns, and
/// what it stops is stopped, so that nothing goes on in between.
fn interrupted(woken: &OwnedFd) {
    restore();
    let _ = raise(SIGINT);
    let mut fds = [PollFd::new(woken, PollFlags::IN)];
    let _ = poll(&mut fds, Some(&INTERRUPT_TIMEOUT));
}

/// Ends the question that is open, if one is: whoever waits gets the end of the input.
pub(crate) fn interrupt() {
    if let Some(woken) = lock(&OPEN).as_ref() {
        let _ = rustix::io::write(&**woken, &1_u64.to_ne_bytes());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// How many questions are open: whoever asks reads the terminal then.
    asking: usize,
    /// What was read of a line that has not ended.
    line: Vec<u8>,
    /// Messages that were typed meanwhile.
    waiting: VecDeque<String>,
    /// Nobody listens any more.
    is_over: bool,
}

impl Shared {
    /// Ends listening.
    fn end(&self) {
        lock(&self.state).is_over = true;
        self.changed.notify_all();
    }

    /// Reads once, when no question is open.
    fn read(&self) -> Read {
        let mut state = lock(&self.state);
        while state.asking > 0 && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        // A question has read what was there.
        if state.is_over || !is_ready() {
            return Read::Lines(Vec::new());
        }
        state.read()
    }
}

/// Keeps the listener from reading, while a question is open.
struct Pause(Arc<Shared>);

impl Pause {
    /// Lines that were typed before are messages, and a line that was begun before is dropped.
    fn begin(shared: Arc<Shared>) -> Self {
        let mut state = lock(&shared.state);
        state.asking += 1;
        // The listener reads with the state's lock held, so what it has read by now is in the state.
        while is_ready() && matches!(state.read(), Read::Lines(_)) {}
        state.line.clear();
        drop(state);
        Self(shared)
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        lock(&self.0.state).asking -= 1;
        self.0.changed.notify_all();
    }
}

impl State {
    /// Reads once from the terminal, which is in its line mode, so a read gives a line.
    fn read(&mut self) -> Read {
        let mut piece = [0_u8; 4096];
        match rustix::io::read(stdin(), &mut piece) {
            Ok(0) => Read::Nothing,
            Ok(read) => Read::Lines(self.takes(&piece[..read])),
            Err(Errno::INTR | Errno::AGAIN) => Read::Lines(Vec::new()),
            Err(_) => Read::Broken,
        }
    }

    /// Takes what was read; what became of each line that ended in it.
    fn takes(&mut self, bytes: &[u8]) -> Vec<Taken> {
        let mut taken = Vec::new();
        for byte in bytes {
            if self.line.len() < MAX_LINE {
                self.line.push(*byte);
            }
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                taken.push(self.take(&String::from_utf8_lossy(&line)));
            }
        }
        taken
    }

    /// A whole line came.
    fn take(&mut self, line: &str) -> Taken {
        let text = line.trim_end_matches(['\r', '\n']);
        if text.trim().is_empty() {
            return Taken::Nothing;
        }
        if self.waiting.len() >= MAX_WAITING {
            return Taken::TooMany;
        }
        self.waiting.push_back(text.to_owned());
        Taken::Waits(self.waiting.len())
    }
}

/// What a read of the terminal gave.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    /// Lines, perhaps none that has ended.
    Lines(Vec<Taken>),
    /// The end of the input.
    Nothing,
    /// The terminal is gone.
    Broken,
}

/// Whether a line waits to be read.
fn is_ready() -> bool {
    let terminal = stdin();
    let mut fds = [PollFd::new(&terminal, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It waits; so many do.
    Waits(usize),
    /// It was blank.
    Nothing,
    /// Too many wait already: it was dropped.
    TooMany,
}

/// Reads the terminal while the agent works.
pub(crate) struct Listening {
    shared: Arc<Shared>,
    wake: PipeWriter,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    /// Begins to listen. `told` hears what became of each line.
    pub(crate) fn begin(told: impl Fn(Taken) + Send + 'static) -> io::Result<Self> {
        let (woken, wake) = io::pipe()?;
        let shared = Arc::new(Shared::default());
        let heard = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("keyboard".to_owned())
            .spawn(move || listen(&heard, &woken, &told))?;
        *lock(&LISTENER) = Some(Arc::clone(&shared));
        Ok(Self { shared, wake, thread: Some(thread) })
    }

    /// Ends listening: what waits. A line that was begun and not ended stays with the terminal, for the next prompt.
    pub(crate) fn end(mut self) -> Vec<String> {
        self.close();
        lock(&self.shared.state).waiting.drain(..).collect()
    }

    fn close(&mut self) {
        *lock(&LISTENER) = None;
        self.shared.end();
        let _ = self.wake.write_all(b".");
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.close();
    }
}

/// Reads lines from the terminal until it is woken.
fn listen(shared: &Shared, woken: &PipeReader, told: &impl Fn(Taken)) {
    let terminal = stdin();
    loop {
        let mut fds = [PollFd::new(&terminal, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return shared.end(),
        }
        if !fds[1].revents().is_empty() {
            return shared.end();
        }
        let is_gone = fds[0].revents().contains(PollFlags::HUP);
        match shared.read() {
            Read::Lines(taken) => taken.into_iter().for_each(told),
            // Ctrl-D on an empty line means nothing while nobody is asked.
            Read::Nothing if !is_gone => {}
            Read::Nothing | Read::Broken => return shared.end(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_waits_and_one_that_was_begun_before_a_question_is_dropped() {
        let shared = Arc::new(Shared::default());
        assert_eq!(lock(&shared.state).takes(b"y\n  \nbegun"), [Taken::Waits(1), Taken::Nothing]);
        let pause = Pause::begin(Arc::clone(&shared));
        assert_eq!(lock(&shared.state).line, b"");
        drop(pause);
        assert_eq!(lock(&shared.state).takes(b"later\n"), [Taken::Waits(2)]);
        assert_eq!(lock(&shared.state).waiting, ["y", "later"]);
    }

    #[test]
    fn too_many_are_dropped_and_said() {
        let mut state = State::default();
        for number in 1..=MAX_WAITING {
            assert_eq!(state.take("x\n"), Taken::Waits(number));
        }
        assert_eq!(state.take("x\n"), Taken::TooMany);
    }
}
