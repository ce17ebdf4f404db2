//! What a role may use up, as its file says it.

use std::num::NonZeroU64;
use std::time::Duration;

use metier_catalog::{Amount, LimitsConfig};

use crate::limits::Limits;

/// One limit of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cap {
    /// Nothing is said.
    #[default]
    Unsaid,
    /// None is wanted: `null`.
    None,
    /// So much.
    At(NonZeroU64),
}

/// What a role may use up for one message of the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// How often its model is asked.
    pub turns: Cap,
    /// How many tools are called.
    pub calls: Cap,
    /// Tokens that are not served from a cache.
    pub tokens: Cap,
    /// Millionths of the price list's currency.
    pub money_micros: Cap,
    /// How long it takes.
    pub seconds: Cap,
}

impl Cap {
    /// What holds: the user's own word as the highest, else the file's, else the usual. A file makes what the user said
    /// smaller and never larger; where the user is silent it is the agent's own matter.
    fn settle(self, user: Option<u64>, usual: Option<u64>) -> Option<u64> {
        let own = match self {
            Self::Unsaid => return user.or(usual),
            Self::None => None,
            Self::At(limit) => Some(limit.get()),
        };
        match (own, user) {
            (Some(own), Some(user)) => Some(own.min(user)),
            (own, user) => own.or(user),
        }
    }
}

impl Budget {
    /// The limits of a run: the user's configuration, the file, the usual.
    pub fn settle(&self, user: &LimitsConfig) -> Limits {
        let usual = Limits::default();
        let said = |number: Option<std::num::NonZeroU32>| number.map(|number| u64::from(number.get()));
        let count = |cap: Cap, user: Option<std::num::NonZeroU32>, usual: u64| {
            cap.settle(said(user), Some(usual)).unwrap_or(u64::MAX)
        };
        let money = user.money.as_ref().map(Amount::micros);
        let time = usual.time.map(|time| time.as_secs());
        Limits {
            turns: count(self.turns, user.turns, usual.turns),
            calls: count(self.calls, user.calls, usual.calls),
            tokens: count(self.tokens, user.tokens, usual.tokens),
            money_micros: self.money_micros.settle(money, usual.money_micros),
            time: self.seconds.settle(said(user.seconds), time).map(Duration::from_secs),
            ..usual
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_makes_the_users_limits_smaller_and_says_its_own_where_the_user_is_silent() {
        let at = |number: u64| NonZeroU64::new(number).map_or(Cap::Unsaid, Cap::At);
        for (cap, user, usual, expect) in [
            (Cap::Unsaid, None, Some(50), Some(50)),
            (Cap::Unsaid, Some(9), Some(50), Some(9)),
            (at(5), Some(9), Some(50), Some(5)),
            (at(90), Some(9), Some(50), Some(9)),
            (at(90), None, Some(50), Some(90)),
            (Cap::None, None, Some(50), None),
            (Cap::None, Some(9), Some(50), Some(9)),
        ] {
            assert_eq!(cap.settle(user, usual), expect, "{cap:?} {user:?}");
        }
    }

    #[test]
    fn without_a_word_the_usual_limits_hold() {
        assert_eq!(Budget::default().settle(&LimitsConfig::default()), Limits::default());
        let none = Budget { calls: Cap::None, ..Budget::default() };
        assert_eq!(none.settle(&LimitsConfig::default()).calls, u64::MAX);
    }
}
