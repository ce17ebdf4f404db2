//! What parent, children and their children share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use metier_store::Usage;

use super::Queue;
use crate::bridge::lock;
use crate::limits::{Limits, Reached, Spent};

/// What a conversation shares with all its children, however deep.
pub(crate) struct Family {
    pub(crate) queue: Arc<Queue>,
    tally: Mutex<Tally>,
    /// Providers other than the session's, and whether the user agreed to them. The lock is held while somebody is asked.
    pub(crate) providers: Mutex<HashMap<String, bool>>,
    /// Held while somebody is asked about a step that may have happened: children go on at once, and nobody answers two questions at
    /// a time.
    pub(crate) word: Mutex<()>,
}

/// What all of them use up together since the user spoke, and what they may.
struct Tally {
    spent: Spent,
    limits: Limits,
    since: Instant,
}

impl Tally {
    fn new(limits: Limits, spent: Spent, worked: Duration) -> Self {
        let now = Instant::now();
        // A session that worked for longer than this machine is up has another clock; then its time begins anew.
        Self { spent, limits, since: now.checked_sub(worked).unwrap_or(now) }
    }
}

impl Family {
    pub(crate) fn new(limits: Limits) -> Self {
        let tally = Mutex::new(Tally::new(limits, Spent::default(), Duration::ZERO));
        Self { queue: Arc::default(), tally, providers: Mutex::default(), word: Mutex::default() }
    }

    /// The user speaks: from here on it is counted anew.
    pub(crate) fn begin(&self, limits: Limits) {
        *lock(&self.tally) = Tally::new(limits, Spent::default(), Duration::ZERO);
    }

    /// The conversation goes on in another process, in which so much was used up already.
    pub(crate) fn resume(&self, limits: Limits, spent: Spent, worked: Duration) {
        *lock(&self.tally) = Tally::new(limits, spent, worked);
    }

    /// Somebody said to go on.
    pub(crate) fn allow(&self, limits: Limits) {
        lock(&self.tally).limits = limits;
    }

    /// One of them has asked a model.
    pub(crate) fn charge(&self, usage: Usage, cost_micros: u64) {
        let Tally { spent, .. } = &mut *lock(&self.tally);
        spent.usage += usage;
        spent.cost_micros = spent.cost_micros.saturating_add(cost_micros);
    }

    /// One of them calls a tool.
    pub(crate) fn call(&self) {
        lock(&self.tally).spent.calls += 1;
    }

    /// The limit that does not let any of them ask a model. Turns are each one's own.
    pub(crate) fn before_a_turn(&self) -> Option<Reached> {
        let Tally { spent, limits, since } = &*lock(&self.tally);
        Limits { turns: u64::MAX, ..*limits }.before_a_turn(spent, since.elapsed())
    }

    /// How many turns any of them may take.
    pub(crate) fn most_turns(&self) -> u64 {
        lock(&self.tally).limits.turns
    }

    /// The limit that does not let any of them call a tool.
    pub(crate) fn before_a_call(&self) -> Option<Reached> {
        let Tally { spent, limits, .. } = &*lock(&self.tally);
        limits.before_a_call(spent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limit;

    #[test]
    fn what_one_uses_up_counts_for_all_and_turns_do_not() {
        let limits = Limits { turns: 1, calls: 2, tokens: 10, ..Limits::default() };
        let family = Family::new(limits);
        family.charge(Usage { input: 9, cached: 100, ..Usage::default() }, 5);
        family.call();
        assert_eq!((family.before_a_turn(), family.before_a_call()), (None, None));
        family.call();
        assert_eq!(family.before_a_call().map(|reached| reached.which), Some(Limit::Calls));
        family.charge(Usage { output: 1, ..Usage::default() }, 0);
        assert_eq!(family.before_a_turn().map(|reached| reached.which), Some(Limit::Tokens));
        family.allow(Limits { tokens: 20, calls: 4, ..limits });
        assert_eq!(family.before_a_turn(), None);
        family.begin(limits);
        assert_eq!(family.before_a_call(), None);
    }
}
