//! What the warden was asked, and what it said.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::target::Target;
use crate::warden::Verdict;

/// The most hosts one proxy keeps answers for. No script talks to so many; one that tries to looks for an open one.
const MAX_HOSTS: usize = 10_000;

/// Each question is asked once: a script that opens ten connections to one host must not ask a person ten times.
#[derive(Default)]
pub(crate) struct Questions {
    state: Mutex<State>,
    answered: Condvar,
}

#[derive(Default)]
struct State {
    /// `None` while the answer is awaited.
    answers: HashMap<Target, Option<Verdict>>,
    is_closed: bool,
}

/// Who has to ask.
pub(crate) enum Turn {
    /// Nobody: this is the answer.
    Known(Verdict),
    /// Somebody else is asking: wait.
    Theirs,
    /// Whoever got this.
    Mine,
}

impl Questions {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn turn(&self, target: &Target) -> Turn {
        let mut state = self.state();
        match state.answers.get(target) {
            Some(Some(verdict)) => Turn::Known(verdict.clone()),
            Some(None) => Turn::Theirs,
            None if state.answers.len() >= MAX_HOSTS => Turn::Known(Verdict::Refuse {
                reason: format!("{MAX_HOSTS} other hosts were asked for in this call"),
                remedy: None,
            }),
            None => {
                state.answers.insert(target.clone(), None);
                Turn::Mine
            }
        }
    }

    /// Asks, for all who wait. A warden that panics has said no.
    pub(crate) fn ask(&self, target: &Target, warden: impl FnOnce() -> Verdict) -> Verdict {
        let nobody = Verdict::Refuse { reason: "the question was not answered".to_owned(), remedy: None };
        let mut settling = Settling { questions: self, target, verdict: nobody };
        settling.verdict = warden();
        settling.verdict.clone()
    }

    /// Waits for the answer to somebody else's question; `None` when there will be none.
    pub(crate) fn wait(&self, target: &Target) -> Option<Verdict> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(Some(verdict)) = state.answers.get(target) {
                return Some(verdict.clone());
            }
            state = self.answered.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets nobody wait any more, and tells whether a question is open.
    pub(crate) fn close(&self) -> bool {
        let mut state = self.state();
        state.is_closed = true;
        self.answered.notify_all();
        state.answers.values().any(Option::is_none)
    }
}

struct Settling<'a> {
    questions: &'a Questions,
    target: &'a Target,
    verdict: Verdict,
}

impl Drop for Settling<'_> {
    fn drop(&mut self) {
        self.questions.state().answers.insert(self.target.clone(), Some(self.verdict.clone()));
        self.questions.answered.notify_all();
    }
}
