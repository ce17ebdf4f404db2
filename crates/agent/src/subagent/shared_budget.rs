//! What a session and all its sub-agents share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use metier_store::Usage;

use super::WorkQueue;
use crate::limits::{LimitHit, Limits, Spent};
use crate::lock;

/// What a session shares with all its sub-agents, however deep.
pub(crate) struct SharedBudget {
    pub(crate) queue: Arc<WorkQueue>,
    tally: Mutex<Tally>,
    /// Providers other than the session's, and whether the user agreed to them. The lock is held while the user is asked.
    pub(crate) providers: Mutex<HashMap<String, bool>>,
    /// Held during a question about an interrupted call: sub-agents resume in parallel, and a person answers one question at a time.
    pub(crate) question: Mutex<()>,
}

/// What they have used up since the user's message, and what they may.
struct Tally {
    spent: Spent,
    limits: Limits,
    since: Instant,
}

impl Tally {
    fn new(limits: Limits, spent: Spent, worked: Duration) -> Self {
        let now = Instant::now();
        // A session that worked for longer than this machine is up has another clock; its time starts again.
        Self { spent, limits, since: now.checked_sub(worked).unwrap_or(now) }
    }
}

impl SharedBudget {
    pub(crate) fn new(limits: Limits) -> Self {
        let tally = Mutex::new(Tally::new(limits, Spent::default(), Duration::ZERO));
        Self { queue: Arc::default(), tally, providers: Mutex::default(), question: Mutex::default() }
    }

    /// A message came: counting starts again.
    pub(crate) fn begin(&self, limits: Limits) {
        *lock(&self.tally) = Tally::new(limits, Spent::default(), Duration::ZERO);
    }

    /// The session continues after another process that used up this much.
    pub(crate) fn resume(&self, limits: Limits, spent: Spent, worked: Duration) {
        *lock(&self.tally) = Tally::new(limits, spent, worked);
    }

    /// A limit was extended.
    pub(crate) fn allow(&self, limits: Limits) {
        lock(&self.tally).limits = limits;
    }

    /// One of them asked a model.
    pub(crate) fn charge(&self, usage: Usage, cost_micros: u64) {
        let Tally { spent, .. } = &mut *lock(&self.tally);
        spent.usage += usage;
        spent.cost_micros = spent.cost_micros.saturating_add(cost_micros);
    }

    /// One of them calls a tool.
    pub(crate) fn call(&self) {
        lock(&self.tally).spent.calls += 1;
    }

    /// The limit that keeps all of them from asking a model. Turns are limited for each.
    pub(crate) fn before_a_turn(&self) -> Option<LimitHit> {
        let Tally { spent, limits, since } = &*lock(&self.tally);
        Limits { turns: u64::MAX, ..*limits }.before_a_turn(spent, since.elapsed())
    }

    /// How many turns each of them may take.
    pub(crate) fn max_turns(&self) -> u64 {
        lock(&self.tally).limits.turns
    }

    /// The limit that keeps all of them from calling a tool.
    pub(crate) fn before_a_call(&self) -> Option<LimitHit> {
        let Tally { spent, limits, .. } = &*lock(&self.tally);
        limits.before_a_call(spent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_store::LimitKind;

    #[test]
    fn what_one_uses_up_counts_for_all_and_turns_do_not() {
        let limits = Limits { turns: 1, calls: 2, tokens: 10, ..Limits::default() };
        let budget = SharedBudget::new(limits);
        budget.charge(Usage { input: 9, cached: 100, ..Usage::default() }, 5);
        budget.call();
        assert_eq!((budget.before_a_turn(), budget.before_a_call()), (None, None));
        budget.call();
        assert_eq!(budget.before_a_call().map(|reached| reached.which), Some(LimitKind::Calls));
        budget.charge(Usage { output: 1, ..Usage::default() }, 0);
        assert_eq!(budget.before_a_turn().map(|reached| reached.which), Some(LimitKind::Tokens));
        budget.allow(Limits { tokens: 20, calls: 4, ..limits });
        assert_eq!(budget.before_a_turn(), None);
        budget.begin(limits);
        assert_eq!(budget.before_a_call(), None);
    }
}
