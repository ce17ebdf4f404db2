//! Numbers that look random and are the same on every machine and in every run.

/// `SplitMix64`: small, good enough to vary text, and seeded with the place it is used for.
pub(crate) struct Random(u64);

impl Random {
    /// The numbers of one seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below the limit. The bias of the remainder is far below what the trees could show.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % limit).unwrap_or(0)
    }

    /// A number of the range, both ends included.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True so many times in a hundred.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..8).map(|_| random.below(1_000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn a_range_holds_both_of_its_ends() {
        let mut random = Random::new(1);
        let drawn: Vec<usize> = (0..200).map(|_| random.between(2, 4)).collect();
        assert_eq!(drawn.iter().min(), Some(&2));
        assert_eq!(drawn.iter().max(), Some(&4));
    }
}
