use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Tokens, as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Read by the model and not served from a cache.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Served from a cache.
    pub cached: u64,
    /// Written into a cache.
    pub cache_written: u64,
}

impl Usage {
    /// What no cache served, which is what limits count.
    pub fn uncached(&self) -> u64 {
        self.input.saturating_add(self.output).saturating_add(self.cache_written)
    }

    /// Whether nothing was counted.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
            cache_written: self.cache_written.saturating_add(other.cache_written),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
