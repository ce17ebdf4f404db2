//! The general tools stand under the session's own gate: its rules, its answers, its scopes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use metier_policy::{Action, Decision, Ruling};
use metier_runtime::{Change, ChangeReport, EditError, FileEdit, NotDone, Ran, Session};

use crate::tools::{Hands, RunJob, Running};
use crate::watch::Watch;

/// A session as the general tools see it. Reads of one turn come from several threads; the lock puts them, and the questions that
/// they lead to, in a row.
pub(crate) struct Bridge<'a> {
    pub(crate) session: &'a Mutex<Session>,
    pub(crate) watch: &'a dyn Watch,
}

/// Nothing that holds the lock can leave a session half changed: a panic elsewhere does not matter here.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hands for Bridge<'_> {
    fn decide(&self, action: &Action, shown: Option<&Change>) -> Decision {
        let session = lock(self.session);
        let decision = session.judge(action);
        if decision.ruling != Ruling::Ask {
            return decision;
        }
        if let Some(change) = shown {
            self.watch.change(change);
        }
        session.decide(action)
    }

    fn judge(&self, action: &Action) -> Decision {
        lock(self.session).judge(action)
    }

    fn write(&self, edit: &FileEdit<'_>) -> Result<Option<ChangeReport>, EditError> {
        lock(self.session).write_own(edit)
    }

    fn run(&self, running: &Running, job: &mut RunJob<'_>) -> Result<Ran, NotDone> {
        lock(self.session).run_own(running.time, job)
    }
}
