//! Stops a model that repeats a failing call.

use std::hash::{DefaultHasher, Hash, Hasher};

use metier_store::LimitKind;

use crate::limits::LimitHit;

/// How often the same call may fail in a row. A second try may be right after a passing trouble; a third of the very same is
/// a model that does not read what it is told.
const MAX_REPEATS: u64 = 3;

/// The last call that failed, and how often it did in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RepeatGuard {
    last: Option<u64>,
    times: u64,
}

impl RepeatGuard {
    /// Takes the result of a call.
    pub(crate) fn take(&mut self, tool: &str, input: &str, is_error: bool) {
        if !is_error {
            *self = Self::default();
            return;
        }
        let call = call_mark(tool, input);
        self.times = if self.last == Some(call) { self.times.saturating_add(1) } else { 1 };
        self.last = Some(call);
    }

    /// The limit, once the same call has failed too often.
    pub(crate) fn reached(&self) -> Option<LimitHit> {
        let Self { times, .. } = *self;
        (times >= MAX_REPEATS).then_some(LimitHit {
            which: LimitKind::Repetition,
            limit: MAX_REPEATS,
            used: times,
        })
    }
}

/// What tells one call from another: its tool and its input as the model wrote it.
pub(crate) fn call_mark(tool: &str, input: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (tool, input).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_failing_call_is_enough_the_third_time_in_a_row() {
        let mut guard = RepeatGuard::default();
        let mut check = |tool: &str, input: &str, is_error: bool, expect: bool| {
            guard.take(tool, input, is_error);
            assert_eq!(guard.reached().is_some(), expect, "{tool} {input}");
        };
        check("a", "{}", true, false);
        check("a", "{}", true, false);
        check("a", "{\"x\":1}", true, false);
        check("a", "{}", true, false);
        check("a", "{}", true, false);
        check("b", "{}", false, false);
        check("a", "{}", true, false);
        check("a", "{}", true, false);
        check("a", "{}", true, true);
    }
}
