//! What discovery has to reach, and whether it did.

use std::fmt;

use serde::Serialize;

use crate::contestant::Contestant;
use crate::report::TreeFigures;

/// Times the floor on generated trees of the main size, and on real texts, which need the full parser more often.
const MOST_GENERATED: f64 = 1.5;
const MOST_REAL: f64 = 1.8;

/// Resident megabytes at the main size.
const MOST_MEMORY: f64 = 40.0;

/// Linear, as far as a page cache and a directory of that size are: what a thousand skills cost in a tree may be this
/// many times what they cost in the next smaller one.
const MOST_GROWTH: f64 = 1.25;

/// The trees by which metier is judged.
const MAIN: &str = "generated 10,000";
const REAL: &str = "real 10,000";

/// Below this many skills the start of the process hides how time grows.
const LEAST_GROWTH_SKILLS: usize = 1_000;

/// One figure of metier and the most it may be.
#[derive(Debug, Serialize)]
pub(crate) struct Target {
    pub(crate) what: String,
    pub(crate) most: f64,
    pub(crate) found: f64,
    pub(crate) holds: bool,
}

impl Target {
    fn new(what: String, most: f64, found: f64) -> Self {
        Self { what, most, found, holds: found <= most }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, most, found, holds } = self;
        let verdict = if *holds { "holds" } else { "MISSED" };
        write!(formatter, "{verdict:6}  {what}: {found:.2}, at most {most:.2}")
    }
}

/// All targets that the measured trees can answer.
pub(crate) fn judge(trees: &[TreeFigures]) -> Vec<Target> {
    let mut targets = Vec::new();
    for tree in trees {
        let Some(metier) = tree.of(Contestant::Metier) else { continue };
        let ratio = match tree.tree.as_str() {
            MAIN => MOST_GENERATED,
            REAL => MOST_REAL,
            _ => continue,
        };
        targets.push(Target::new(format!("{}, times the floor", tree.tree), ratio, metier.ratio_to_floor));
        for peer in Contestant::PEERS.into_iter().filter_map(|peer| tree.of(peer)) {
            let what = format!("{}, times {}", tree.tree, peer.contestant);
            targets.push(Target::new(what, 1.0, metier.median_ms / peer.median_ms));
        }
        targets.push(Target::new(format!("{}, MB resident", tree.tree), MOST_MEMORY, metier.peak_memory_mb));
    }
    let mut sizes: Vec<&TreeFigures> = trees.iter().filter(|tree| tree.tree != REAL).collect();
    sizes.retain(|tree| tree.skills >= LEAST_GROWTH_SKILLS);
    for pair in sizes.windows(2) {
        let [small, large] = pair else { continue };
        if let (Some(before), Some(after)) = (small.of(Contestant::Metier), large.of(Contestant::Metier)) {
            let what = format!("{}, growth per skill since {}", large.tree, small.tree);
            let growth = after.ms_per_1000_skills / before.ms_per_1000_skills;
            targets.push(Target::new(what, MOST_GROWTH, growth));
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Answer;
    use crate::report::Figures;

    fn tree(name: &str, skills: usize, milliseconds: [f64; 4], memory: f64) -> TreeFigures {
        #[expect(clippy::cast_precision_loss, reason = "small numbers of a test")]
        let contestants = Contestant::ALL
            .iter()
            .zip(milliseconds)
            .map(|(contestant, median)| Figures {
                contestant: contestant.name(),
                ratio_to_floor: median / milliseconds[0],
                median_ms: median,
                least_ms: median,
                ms_per_1000_skills: median * 1_000.0 / skills as f64,
                peak_memory_mb: memory,
                answer: Answer { loaded: skills, failed: 0 },
            })
            .collect();
        TreeFigures { tree: name.to_owned(), skills, contestants }
    }

    fn missed(trees: &[TreeFigures]) -> Vec<String> {
        judge(trees).into_iter().filter(|target| !target.holds).map(|target| target.what).collect()
    }

    #[test]
    fn a_fast_and_small_program_misses_nothing() {
        let trees = [
            tree("generated 1,000", 1_000, [10.0, 12.0, 30.0, 40.0], 10.0),
            tree("generated 10,000", 10_000, [100.0, 120.0, 300.0, 400.0], 30.0),
            tree("real 10,000", 10_000, [100.0, 170.0, 300.0, 400.0], 30.0),
        ];
        assert_eq!(judge(&trees).len(), 9);
        assert_eq!(missed(&trees), Vec::<String>::new());
    }

    #[test]
    fn every_target_can_be_missed() {
        let trees = [
            tree("generated 1,000", 1_000, [10.0, 12.0, 30.0, 40.0], 10.0),
            tree("generated 10,000", 10_000, [100.0, 160.0, 150.0, 155.0], 41.0),
            tree("real 10,000", 10_000, [100.0, 181.0, 180.0, 180.0], 41.0),
        ];
        assert_eq!(missed(&trees).len(), judge(&trees).len());
    }

    #[test]
    fn a_tree_that_was_not_measured_has_no_verdict() {
        assert!(judge(&[tree("generated 100", 100, [1.0, 9.0, 1.0, 1.0], 99.0)]).is_empty());
    }
}
