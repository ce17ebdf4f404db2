//! Puts the general tools under the session's policy: its rules, approvals and scopes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use metier_exec::{ChangeReport, EditError, FileEdit, RunOutput};
use metier_policy::{Action, Decision, Ruling};
use metier_runtime::{Change, NotDone, Session as SkillSession};

use crate::observer::Observer;
use metier_tools::{Executor, RunJob, Running};

/// A session as the general tools see it. Reads of one turn come from several threads; the lock serialises them and their questions.
pub(crate) struct PolicyAdapter<'a> {
    pub(crate) session: &'a Mutex<SkillSession>,
    pub(crate) observer: &'a dyn Observer,
}

/// Locks, also after a panic: no holder of these locks leaves a value half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Executor for PolicyAdapter<'_> {
    fn decide(&self, action: &Action, shown: Option<&Change>) -> Decision {
        let session = lock(self.session);
        let decision = session.judge(action);
        if decision.ruling != Ruling::Ask {
            return decision;
        }
        if let Some(change) = shown {
            self.observer.change(change);
        }
        session.decide(action)
    }

    fn judge(&self, action: &Action) -> Decision {
        lock(self.session).judge(action)
    }

    fn write(&self, edit: &FileEdit<'_>) -> Result<Option<ChangeReport>, EditError> {
        lock(self.session).write_own(edit)
    }

    fn run(&self, running: &Running, job: &mut RunJob<'_>) -> Result<RunOutput, NotDone> {
        lock(self.session).run_own(running.time, job)
    }
}
