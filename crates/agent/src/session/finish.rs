//! The end of a run.

use metier_store::{Ended, EventKind, Outcome, Usage};

use super::effect::End;
use super::{Answer, Session, SessionError};
use crate::limits::LimitHit;
use crate::limits::Spent;
use crate::observer::OnLimit;

impl Session {
    /// Ends the run: stops what must not outlive it, and writes its activity entries and its sums.
    pub(super) fn finish(&mut self, end: End) -> Result<Answer, SessionError> {
        let End { outcome, text, why } = end;
        if outcome == Outcome::Cancelled {
            let who = if self.subagents.is_subagent() { "its parent" } else { "the user" };
            self.write(EventKind::Interrupted { why: who.to_owned() })?;
        }
        self.leave_subagents(outcome)?;
        let needs = self.state(|state| state.run.missing.clone());
        let (outcome, why) = match outcome {
            Outcome::Done if !needs.is_empty() => {
                let actions: Vec<&str> = needs.iter().map(|need| need.action.as_str()).collect();
                let are_changes = needs.iter().all(|need| need.changes.is_some());
                let why = if are_changes { "approval is missing" } else { "no one could be asked" };
                (Outcome::NeedsYes, Some(format!("{why}: {}", actions.join("; "))))
            }
            other => (other, why),
        };
        self.remember_runs(outcome, &text)?;
        let spent = self.spent();
        for (mut used, then) in self.state(|state| state.run.used.clone()) {
            used.usage = since(&spent, &then);
            used.cost_micros = spent.cost_micros.saturating_sub(then.cost_micros);
            used.outcome = outcome;
            self.write(EventKind::Used(used))?;
        }
        let Spent { usage, cost_micros, turns, calls } = spent;
        let ended = Ended { outcome, text, why, usage, cost_micros, turns, calls };
        self.write(EventKind::Ended(ended.clone()))?;
        self.log.settle()?;
        Ok(Answer { ended, needs })
    }

    /// No sub-agent in the background outlives a run: one that is done waits for them, any other stops them.
    fn leave_subagents(&mut self, outcome: Outcome) -> Result<(), SessionError> {
        if outcome == Outcome::Done {
            return self.await_subagents();
        }
        self.subagents.pool.stop();
        self.await_stopped()
    }

    /// A limit was reached: that is written, and the observer may extend it.
    pub(super) fn ask_about_limit(&mut self, hit: LimitHit) -> Result<(), SessionError> {
        let LimitHit { which, limit, used } = hit.clone();
        self.write(EventKind::Limited { which, limit, used })?;
        if self.log.observer().limit_hit(&hit) == OnLimit::Extend {
            self.write(EventKind::LimitExtended { which: hit.which })?;
            self.subagents.budget.allow(self.limits());
            self.model.limit_extended();
        }
        Ok(())
    }
}

/// What was used up since then.
fn since(now: &Spent, then: &Spent) -> Usage {
    Usage {
        input: now.usage.input.saturating_sub(then.usage.input),
        output: now.usage.output.saturating_sub(then.usage.output),
        cached: now.usage.cached.saturating_sub(then.usage.cached),
        cache_written: now.usage.cache_written.saturating_sub(then.usage.cache_written),
    }
}
