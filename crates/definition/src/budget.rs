//! The limits that a role's file asks for. The agent settles them against the user's.

use std::num::NonZeroU64;

/// One limit of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitSetting {
    /// The file does not mention it.
    #[default]
    Unset,
    /// `null`: no limit is wanted.
    Unlimited,
    /// At most so much.
    At(NonZeroU64),
}

/// The limits of a role for one user message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoleBudget {
    /// Requests to the model.
    pub turns: LimitSetting,
    /// Tool calls.
    pub calls: LimitSetting,
    /// Tokens that no cache serves.
    pub tokens: LimitSetting,
    /// Money, in millionths of the price list's currency.
    pub money_micros: LimitSetting,
    /// Seconds.
    pub seconds: LimitSetting,
}

impl LimitSetting {
    /// The limit that holds: the user's as the upper bound, else the file's, else the default. A file can lower the user's limit
    /// and never raise it; without a limit of the user's, the file decides.
    pub fn settle(self, user: Option<u64>, default: Option<u64>) -> Option<u64> {
        let own = match self {
            Self::Unset => return user.or(default),
            Self::Unlimited => None,
            Self::At(limit) => Some(limit.get()),
        };
        match (own, user) {
            (Some(own), Some(user)) => Some(own.min(user)),
            (own, user) => own.or(user),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_makes_the_users_limits_smaller_and_says_its_own_where_the_user_is_silent() {
        let at = |number: u64| NonZeroU64::new(number).map_or(LimitSetting::Unset, LimitSetting::At);
        for (setting, user, default, expect) in [
            (LimitSetting::Unset, None, Some(50), Some(50)),
            (LimitSetting::Unset, Some(9), Some(50), Some(9)),
            (at(5), Some(9), Some(50), Some(5)),
            (at(90), Some(9), Some(50), Some(9)),
            (at(90), None, Some(50), Some(90)),
            (LimitSetting::Unlimited, None, Some(50), None),
            (LimitSetting::Unlimited, Some(9), Some(50), Some(9)),
        ] {
            assert_eq!(setting.settle(user, default), expect, "{setting:?} {user:?}");
        }
    }
}
