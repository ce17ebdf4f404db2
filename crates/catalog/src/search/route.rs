//! The answer to a request.

use crate::entry::EntryId;
use metier_search::{Abstain, Parts};

/// The skills that fit a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Best first.
    pub skills: Vec<Routed>,
    /// Why none of them should be taken without asking.
    pub abstain: Option<Abstain>,
    /// How many skills there were to choose from.
    pub searched: usize,
}

/// One skill that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Routed {
    /// Which one.
    pub entry: EntryId,
    /// How well, beside others of the same request.
    pub score: f32,
    /// What the score is made of.
    pub parts: Parts,
    /// Others with the same text.
    pub also: Vec<EntryId>,
}

impl Route {
    /// The best, when it may be taken without asking and is clearly ahead of the second.
    pub fn clear(&self) -> Option<&Routed> {
        /// The part of its score by which the best has to lead. In the routing data two of three right answers do, and one
        /// of four wrong ones.
        const LEAD: f32 = 0.12;
        let best = self.skills.first().filter(|_| self.abstain.is_none())?;
        let second = self.skills.get(1).map_or(0.0, |second| second.score);
        (best.score - second >= LEAD * best.score).then_some(best)
    }
}
