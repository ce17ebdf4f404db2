//! What an answer used, and what that costs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Amount;

/// Tokens of one answer. The four first numbers have nothing in common, whatever a provider counts into what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// What was read and not found in a cache.
    pub input: u64,
    /// What was read from a cache.
    pub cache_read: u64,
    /// What was read and put into a cache.
    pub cache_write: u64,
    /// What was written, reasoning included.
    pub output: u64,
    /// How much of `output` was reasoning.
    pub reasoning: u64,
}

/// An amount of money in millionths of the unit in which the prices are written. Whole numbers: sums of many small
/// amounts must not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money {
    micros: u64,
}

impl From<&Amount> for Money {
    fn from(amount: &Amount) -> Self {
        Self { micros: amount.micros() }
    }
}

impl Money {
    /// So many millionths.
    pub const fn from_micros(micros: u64) -> Self {
        Self { micros }
    }

    /// How many millionths.
    pub const fn micros(self) -> u64 {
        self.micros
    }
}

impl fmt::Display for Money {
    /// At least two places behind the point, and no zeros behind those.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.micros / 1_000_000, self.micros % 1_000_000);
        let digits = format!("{part:06}");
        let shown = digits.trim_end_matches('0');
        write!(f, "{whole}.{shown:0<2}")
    }
}

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// Read.
    pub input: Money,
    /// Written.
    pub output: Money,
    /// Read from a cache; without it such tokens cost what others do.
    pub cache_read: Option<Money>,
    /// Put into a cache; without it such tokens cost what others do.
    pub cache_write: Option<Money>,
}

impl Prices {
    /// What this usage costs, rounded up: a limit in money must not be passed by many roundings down.
    pub fn cost(&self, usage: &Usage) -> Money {
        let part = |tokens: u64, price: Money| u128::from(tokens) * u128::from(price.micros);
        let sum = part(usage.input, self.input)
            .saturating_add(part(usage.output, self.output))
            .saturating_add(part(usage.cache_read, self.cache_read.unwrap_or(self.input)))
            .saturating_add(part(usage.cache_write, self.cache_write.unwrap_or(self.input)));
        Money { micros: u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_shown_without_floats() {
        for (micros, expect) in
            [(150_000, "0.15"), (3_000_000, "3.00"), (1, "0.000001"), (12_500_000, "12.50"), (0, "0.00")]
        {
            assert_eq!(Money::from_micros(micros).to_string(), expect);
        }
    }

    #[test]
    fn a_cost_is_rounded_up_and_caches_have_their_own_price() {
        let price = |micros: u64| Money::from_micros(micros);
        let prices = Prices {
            input: price(3_000_000),
            output: price(15_000_000),
            cache_read: Some(price(300_000)),
            cache_write: Some(price(3_750_000)),
        };
        let usage = Usage { input: 1000, output: 200, cache_read: 10_000, cache_write: 100, reasoning: 50 };
        // 3,000 + 3,000 + 3,000 + 375 millionths.
        assert_eq!(prices.cost(&usage), Money::from_micros(9_375));
        assert_eq!(prices.cost(&Usage { cache_read: 1, ..Usage::default() }), Money::from_micros(1));
        let plain = Prices { cache_read: None, cache_write: None, ..prices };
        assert_eq!(plain.cost(&Usage { cache_read: 10, ..Usage::default() }), Money::from_micros(30));
        let most = Usage { input: u64::MAX, output: u64::MAX, ..Usage::default() };
        assert_eq!(prices.cost(&most), Money::from_micros(u64::MAX));
    }
}
