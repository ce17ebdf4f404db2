//! When the best is not good enough.

use crate::rank::{Hit, Parts};

/// Why nothing should be taken without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abstain {
    /// Nothing shares a word with the request.
    Nothing,
    /// The best shares too little of it.
    Weak,
    /// The best says itself that it is not for this.
    Against,
    /// The request says that it is not about what the best is about.
    Denied,
}

impl Abstain {
    /// The word in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Weak => "weak",
            Self::Against => "against",
            Self::Denied => "denied",
        }
    }
}

/// Below this share of the request's weight it is chance that some words meet.
const MIN_COVERED: f32 = 0.08;

/// A sentence against that meets the request this much better than the best passage, with one more to keep short requests from
/// deciding it by a single word.
const AGAINST: f32 = 0.65;

/// The weight that a denied word must have in the head: one that few skills have.
const DENIED: f32 = 4.0;

/// Judges the best hit.
pub(crate) fn abstain(hits: &[Hit]) -> Option<Abstain> {
    let Some(Hit { parts, .. }) = hits.first() else { return Some(Abstain::Nothing) };
    let Parts { covered, passage, against, denied, .. } = *parts;
    if covered < MIN_COVERED {
        Some(Abstain::Weak)
    } else if against / (passage + 1.0) > AGAINST {
        Some(Abstain::Against)
    } else if denied > DENIED {
        Some(Abstain::Denied)
    } else {
        None
    }
}
