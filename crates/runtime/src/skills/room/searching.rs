//! `skill_search` over the index of the session's skills.

use metier_catalog::Route;

use super::Room;
use crate::toolset::{Hit, Search};

/// How many words of a request are told for each skill: enough to see what it was found by.
const MOST_WORDS: usize = 4;

impl Search for Room {
    fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let finder = self.house.finder(&self.snapshot);
        let Route { skills, .. } = finder.route(query, limit);
        let hits = skills.into_iter().filter_map(|routed| {
            let entry = self.snapshot.entry(routed.entry)?;
            let reasons = finder.reasons(query, routed.entry);
            let words: Vec<&str> =
                reasons.words.iter().take(MOST_WORDS).map(|reason| reason.word.as_str()).collect();
            let mut why = match words.as_slice() {
                [] => "by its whole text".to_owned(),
                words => format!("has {}", words.join(", ")),
            };
            if let Some(against) = reasons.against {
                why.push_str(&format!("; but it says: {against}"));
            }
            let (name, description) = (entry.call_name().to_owned(), entry.description().to_owned());
            Some(Hit { name, description, why })
        });
        hits.collect()
    }
}
