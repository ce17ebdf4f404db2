//! A model that does the same thing again and again although it fails.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::limits::{Limit, Reached};

/// How often the same call may fail in a row. A second try may be right after a passing trouble; a third of the very same is
/// a model that does not read what it is told.
const MOST: u64 = 3;

/// The last call that failed, and how often it did in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stubbornness {
    last: Option<u64>,
    times: u64,
}

impl Stubbornness {
    /// Takes what came of a call; says when it is enough.
    pub(crate) fn take(&mut self, tool: &str, input: &str, is_error: bool) -> Option<Reached> {
        if !is_error {
            *self = Self::default();
            return None;
        }
        let call = call_mark(tool, input);
        self.times = if self.last == Some(call) { self.times + 1 } else { 1 };
        self.last = Some(call);
        (self.times >= MOST).then_some(Reached { which: Limit::Repetition, limit: MOST, used: self.times })
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
        let mut stubbornness = Stubbornness::default();
        let mut check = |tool: &str, input: &str, is_error: bool, expect: bool| {
            assert_eq!(stubbornness.take(tool, input, is_error).is_some(), expect, "{tool} {input}");
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
