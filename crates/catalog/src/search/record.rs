//! What was offered at which rank and what was used, as values that can be stored and counted.

use super::route::Route;
use crate::snapshot::Snapshot;
use metier_search::Abstain;
use serde::{Deserialize, Serialize};

/// One request: what was offered, and which skills were then used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutingRecord {
    /// What was offered, best first.
    pub offered: Vec<Offered>,
    /// How many skills there were to choose from.
    pub searched: usize,
    /// Why the router would not have chosen, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abstain: Option<String>,
    /// The names of the skills that were used, in order; also those that were not offered.
    #[serde(default)]
    pub used: Vec<String>,
}

/// One skill that was offered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offered {
    /// The name it is called by.
    pub name: String,
    /// Its score.
    pub score: f32,
}

impl RoutingRecord {
    /// The record of a route, before anything was used.
    pub fn new(snapshot: &Snapshot, route: &Route) -> Self {
        let name = |id| snapshot.entry(id).map(|entry| entry.call_name().to_owned());
        let offered = route
            .skills
            .iter()
            .filter_map(|routed| Some(Offered { name: name(routed.entry)?, score: routed.score }));
        Self {
            offered: offered.collect(),
            searched: route.searched,
            abstain: route.abstain.map(Abstain::word).map(str::to_owned),
            used: Vec::new(),
        }
    }

    /// Notes that a skill was used.
    pub fn use_skill(&mut self, name: &str) {
        if !self.used.iter().any(|used| used == name) {
            self.used.push(name.to_owned());
        }
    }

    /// The rank, from 1, at which the first skill that was used had been offered.
    pub fn rank(&self) -> Option<usize> {
        let used = self.used.first()?;
        self.offered.iter().position(|offered| offered.name == *used).map(|at| at + 1)
    }
}

/// How well the router did for somebody, over all their requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RoutingStats {
    /// Requests for which a skill was used.
    pub requests: usize,
    /// Requests for which none was.
    pub unused: usize,
    /// The share of them in which the skill that was used had been offered first, among the first five, ten.
    pub hit_at_1: f64,
    /// See `hit_at_1`.
    pub hit_at_5: f64,
    /// See `hit_at_1`.
    pub hit_at_10: f64,
    /// The mean of one over the rank.
    pub mean_reciprocal_rank: f64,
    /// The share of requests with a use for which the router would not have chosen.
    pub abstained: f64,
}

impl RoutingStats {
    /// Counts records.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a RoutingRecord>) -> Self {
        let mut stats = Self::default();
        let mut within = [0_usize; 3];
        let (mut reciprocal, mut abstained) = (0.0, 0_usize);
        for record in records {
            if record.used.is_empty() {
                stats.unused += 1;
                continue;
            }
            stats.requests += 1;
            abstained += usize::from(record.abstain.is_some());
            if let Some(rank) = record.rank() {
                for (count, most) in within.iter_mut().zip([1, 5, 10]) {
                    *count += usize::from(rank <= most);
                }
                reciprocal += 1.0 / share(rank, 1);
            }
        }
        stats.hit_at_1 = share(within[0], stats.requests);
        stats.hit_at_5 = share(within[1], stats.requests);
        stats.hit_at_10 = share(within[2], stats.requests);
        stats.mean_reciprocal_rank = reciprocal / share(stats.requests.max(1), 1);
        stats.abstained = share(abstained, stats.requests);
        stats
    }
}

#[allow(clippy::cast_precision_loss, reason = "nobody makes 2^52 requests")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::{Offered, RoutingRecord, RoutingStats};

    fn record(offered: &[&str], used: &[&str]) -> RoutingRecord {
        let offered = offered.iter().map(|name| Offered { name: (*name).to_owned(), score: 1.0 }).collect();
        let mut record = RoutingRecord { offered, searched: 9, abstain: None, used: Vec::new() };
        for name in used {
            record.use_skill(name);
        }
        record
    }

    #[test]
    fn hits_are_counted_by_what_was_used() {
        let records = [
            record(&["a", "b"], &["a"]),
            record(&["a", "b"], &["b", "a"]),
            record(&["a"], &["elsewhere"]),
            record(&["a"], &[]),
        ];
        let stats = RoutingStats::of(&records);
        assert_eq!((stats.requests, stats.unused), (3, 1));
        let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(near(stats.hit_at_1, 1.0 / 3.0) && near(stats.hit_at_5, 2.0 / 3.0), "{stats:?}");
        assert!(near(stats.mean_reciprocal_rank, 0.5), "{stats:?}");
    }

    #[test]
    fn a_record_comes_back_from_its_json() {
        let record = record(&["a", "b"], &["b"]);
        let json = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<RoutingRecord>(&json).unwrap(), record);
    }
}
