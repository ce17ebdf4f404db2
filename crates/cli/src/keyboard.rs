//! What the user types, and who gets it: a question, or nobody yet.
//!
//! Outside of a chat a question reads the next line itself. In a chat a line that is typed while the agent works must not become
//! the answer to a question that was not there when it was typed: a "y" meant for something else would be a yes to whatever comes
//! next. So [`Listening`] reads the terminal during a turn and hands a line to the question that is open, else keeps it as the
//! next message.

use crate::agency::Presence;
use rustix::event::{PollFd, PollFlags, poll};
use std::collections::VecDeque;
use std::io::{self, BufRead, PipeReader, PipeWriter, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// The longest line that is kept while the agent works. A terminal gives 4,096 bytes at most; what is longer is pasted by
/// something that is no terminal.
const MOST_LINE: usize = 1 << 20;

/// How many messages wait at most. More is a file that was pasted by mistake.
const MOST_WAITING: usize = 100;

/// Who listens right now. There is one terminal, so there is one of these.
static LISTENER: Mutex<Option<Arc<Shared>>> = Mutex::new(None);

/// Whether somebody sits at the terminal.
pub(crate) fn can_ask() -> bool {
    Presence::of(false) == Presence::Here
}

/// Asks for a yes at the terminal. An empty line and the end of the input are a no.
pub(crate) fn is_yes(question: &str) -> io::Result<bool> {
    let mut line = String::new();
    ask(&mut io::stderr().lock(), &format!("{question} [y]es [n]o > "), &mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Writes a question and takes the next line that is typed. 0 is the end of the input, or that somebody stopped it all.
pub(crate) fn ask(screen: &mut impl Write, question: &str, line: &mut String) -> io::Result<usize> {
    let listener = lock(&LISTENER).clone();
    // Open before it can be seen: whoever answers at once answers this.
    if let Some(shared) = &listener {
        lock(&shared.state).question = Question::Open;
    }
    screen.write_all(question.as_bytes())?;
    screen.flush()?;
    let read = match listener {
        None => io::stdin().lock().read_line(line)?,
        Some(shared) => {
            let answer = shared.answer();
            line.push_str(&answer);
            answer.len()
        }
    };
    if read == 0 {
        writeln!(screen)?;
    }
    Ok(read)
}

/// Ends the question that is open, if one is: whoever waits gets the end of the input.
pub(crate) fn interrupt() {
    if let Some(shared) = lock(&LISTENER).clone() {
        let mut state = lock(&shared.state);
        if state.question == Question::Open {
            state.question = Question::Answered(String::new());
            shared.changed.notify_all();
        }
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
    question: Question,
    /// Messages that were typed meanwhile.
    waiting: VecDeque<String>,
    /// The terminal is gone.
    is_over: bool,
}

#[derive(Default, PartialEq, Eq)]
enum Question {
    #[default]
    None,
    Open,
    Answered(String),
}

impl Shared {
    /// Waits for the answer to the question that was opened. One at a time: whoever asks holds the terminal's lock.
    fn answer(&self) -> String {
        let mut state = lock(&self.state);
        loop {
            if let Question::Answered(_) = state.question {
                return match std::mem::take(&mut state.question) {
                    Question::Answered(line) => line,
                    Question::None | Question::Open => String::new(),
                };
            }
            if state.is_over {
                state.question = Question::None;
                return String::new();
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A whole line came, or the end of the input. Says whether it waits now.
    fn take(&self, line: &str) -> Taken {
        let mut state = lock(&self.state);
        if state.question == Question::Open {
            state.question = Question::Answered(line.to_owned());
            self.changed.notify_all();
            return Taken::Answer;
        }
        let text = line.trim_end_matches(['\r', '\n']);
        if text.trim().is_empty() {
            return Taken::Nothing;
        }
        if state.waiting.len() >= MOST_WAITING {
            return Taken::TooMany;
        }
        state.waiting.push_back(text.to_owned());
        Taken::Waits(state.waiting.len())
    }

    fn end(&self) {
        lock(&self.state).is_over = true;
        self.changed.notify_all();
    }
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// A question got it.
    Answer,
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

/// Reads lines from the terminal until it is woken. The terminal is in its line mode, so a read gives a line.
fn listen(shared: &Shared, woken: &PipeReader, told: &impl Fn(Taken)) {
    let terminal = rustix::stdio::stdin();
    let mut line: Vec<u8> = Vec::new();
    let mut piece = [0_u8; 4096];
    loop {
        let mut fds = [PollFd::new(&terminal, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return shared.end(),
        }
        if !fds[1].revents().is_empty() {
            return shared.end();
        }
        let read = match rustix::io::read(terminal, &mut piece) {
            Ok(read) => read,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return shared.end(),
        };
        if read == 0 {
            // Ctrl-D on an empty line: the end of the input for a question, and nothing for anybody else.
            if shared.take("") == Taken::Nothing && fds[0].revents().contains(PollFlags::HUP) {
                return shared.end();
            }
            continue;
        }
        for byte in &piece[..read] {
            if line.len() < MOST_LINE {
                line.push(*byte);
            }
            if *byte == b'\n' {
                told(shared.take(&String::from_utf8_lossy(&line)));
                line.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_answers_the_question_that_is_open_and_waits_otherwise() {
        let shared = Arc::new(Shared::default());
        assert_eq!(shared.take("y\n"), Taken::Waits(1));
        assert_eq!(shared.take("  \n"), Taken::Nothing);
        lock(&shared.state).question = Question::Open;
        assert_eq!(shared.take("no\n"), Taken::Answer);
        assert_eq!(shared.answer(), "no\n");
        assert_eq!(shared.take("later\n"), Taken::Waits(2));
        assert_eq!(lock(&shared.state).waiting, ["y", "later"]);
    }

    #[test]
    fn too_many_are_dropped_and_said() {
        let shared = Shared::default();
        for number in 1..=MOST_WAITING {
            assert_eq!(shared.take("x\n"), Taken::Waits(number));
        }
        assert_eq!(shared.take("x\n"), Taken::TooMany);
    }

    #[test]
    fn where_the_terminal_is_gone_a_question_gets_the_end() {
        let shared = Shared::default();
        shared.end();
        assert_eq!(shared.answer(), "");
    }
}
