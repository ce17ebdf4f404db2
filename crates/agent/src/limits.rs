//! The limits of a run, and what it has spent.

use std::fmt;
use std::time::Duration;

use metier_catalog::{DEFAULT_CALLS, DEFAULT_TOKENS, DEFAULT_TURNS};
use metier_store::{LimitKind, Usage};

/// The limits of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Turns.
    pub turns: u64,
    /// Tool calls.
    pub calls: u64,
    /// Tokens that are not served from a cache.
    pub tokens: u64,
    /// Millionths of the price list's currency; `None` means unlimited.
    pub money_micros: Option<u64>,
    /// Time, questions to the user included.
    pub time: Option<Duration>,
    /// How deep sub-agents may nest.
    pub depth: u32,
    /// Time of one sub-agent: one that never ends must not keep others from starting.
    pub child_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        // Other systems give a sub-agent in the background ten minutes.
        let child_time = Duration::from_mins(10);
        Self {
            turns: DEFAULT_TURNS.into(),
            calls: DEFAULT_CALLS.into(),
            tokens: DEFAULT_TOKENS.into(),
            money_micros: None,
            time: None,
            depth: 3,
            child_time,
        }
    }
}

/// What a run has spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Turns.
    pub turns: u64,
    /// Calls.
    pub calls: u64,
    /// Tokens.
    pub usage: Usage,
    /// Money.
    pub cost_micros: u64,
}

/// A limit that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitHit {
    /// Which limit.
    pub which: LimitKind,
    /// Its value.
    pub limit: u64,
    /// What was spent.
    pub used: u64,
}

impl fmt::Display for LimitHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { which, limit, used } = self;
        match which {
            LimitKind::Turns if *used == 1 => write!(f, "the model was asked once, the limit is {limit}"),
            LimitKind::Turns => write!(f, "the model was asked {used} times, the limit is {limit}"),
            LimitKind::Calls if *used == 1 => write!(f, "a tool was called, the limit is {limit}"),
            LimitKind::Calls => write!(f, "{used} tools were called, the limit is {limit}"),
            LimitKind::Tokens => write!(f, "{used} tokens were used, the limit is {limit}"),
            LimitKind::Money => {
                write!(f, "{} were spent, the limit is {}", units(*used), units(*limit))
            }
            LimitKind::Time => write!(f, "it took {used} seconds, the limit is {limit}"),
            LimitKind::Repetition => write!(f, "the same call failed {used} times in a row"),
            LimitKind::Other(word) => write!(f, "{used} {word} were used, the limit is {limit}"),
        }
    }
}

/// Formats millionths as money.
fn units(micros: u64) -> String {
    format!("{}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}

impl Limits {
    /// The first limit that forbids another turn.
    pub fn before_a_turn(&self, spent: &Spent, worked: Duration) -> Option<LimitHit> {
        let is_late = self.time.filter(|time| worked >= *time);
        let checks = [
            (LimitKind::Turns, Some(self.turns), spent.turns),
            (LimitKind::Tokens, Some(self.tokens), spent.usage.uncached()),
            (LimitKind::Money, self.money_micros, spent.cost_micros),
            (LimitKind::Time, is_late.map(|time| time.as_secs()), worked.as_secs()),
            (LimitKind::Calls, Some(self.calls), spent.calls),
        ];
        let mut reached = checks.into_iter().filter_map(|(which, limit, used)| {
            let limit = limit?;
            (used >= limit).then_some(LimitHit { which, limit, used })
        });
        reached.next()
    }

    /// The limit that forbids another call.
    pub fn before_a_call(&self, spent: &Spent) -> Option<LimitHit> {
        (spent.calls >= self.calls).then_some(LimitHit {
            which: LimitKind::Calls,
            limit: self.calls,
            used: spent.calls,
        })
    }

    /// The same limits with as much more of one of them.
    #[must_use]
    pub fn more_of(mut self, which: &LimitKind, usual: &Self) -> Self {
        let more =
            |now: Option<u64>, usual: Option<u64>| now.map(|now| now.saturating_add(usual.unwrap_or(now)));
        match which {
            LimitKind::Turns => self.turns = self.turns.saturating_add(usual.turns),
            LimitKind::Calls => self.calls = self.calls.saturating_add(usual.calls),
            LimitKind::Tokens => self.tokens = self.tokens.saturating_add(usual.tokens),
            LimitKind::Money => self.money_micros = more(self.money_micros, usual.money_micros),
            LimitKind::Time => {
                self.time = self.time.map(|time| time.saturating_add(usual.time.unwrap_or(time)));
            }
            LimitKind::Repetition | LimitKind::Other(_) => {}
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(turns: u64, calls: u64, tokens: u64) -> Spent {
        let usage = Usage { input: tokens, cached: 1_000_000, ..Usage::default() };
        Spent { turns, calls, usage, ..Spent::default() }
    }

    #[test]
    fn each_limit_is_reached_by_what_it_counts_and_caches_are_free() {
        let limits = Limits { money_micros: Some(10), ..Limits::default() };
        for (spent, expect) in [
            (spent(49, 199, 499_999), None),
            (spent(50, 0, 0), Some(LimitKind::Turns)),
            (spent(0, 200, 0), Some(LimitKind::Calls)),
            (spent(0, 0, 500_000), Some(LimitKind::Tokens)),
            (Spent { cost_micros: 10, ..spent(0, 0, 0) }, Some(LimitKind::Money)),
        ] {
            assert_eq!(
                limits.before_a_turn(&spent, Duration::ZERO).map(|reached| reached.which),
                expect,
                "{spent:?}"
            );
        }
    }

    #[test]
    fn going_on_gives_as_much_again() {
        let usual = Limits::default();
        let more = usual.more_of(&LimitKind::Turns, &usual).more_of(&LimitKind::Turns, &usual);
        assert_eq!((more.turns, more.calls), (150, 200));
        assert_eq!(more.more_of(&LimitKind::Money, &usual).money_micros, None);
    }
}
