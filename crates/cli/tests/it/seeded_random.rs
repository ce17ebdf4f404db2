//! Numbers that look random and are the same for the same seed.

/// A linear congruential generator: enough to spread moments and texts, and its seed tells a failure again.
pub(crate) struct SeededRandom(u64);

impl SeededRandom {
    /// The seed in `METIER_TEST_SEED`, else one from the clock; printed, so that a failure can be tried again.
    #[expect(clippy::print_stderr, reason = "a failure is tried again with the seed")]
    pub(crate) fn from_environment(what: &str) -> Self {
        let given = std::env::var("METIER_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let clock = || std::time::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_secs());
        let seed = given.unwrap_or_else(clock);
        eprintln!("{what}: METIER_TEST_SEED={seed}");
        Self(seed)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit.max(1)
    }

    /// One of these.
    pub(crate) fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}
