//! `skill_search` over the index of the session's skills.

use super::Room;
use crate::toolset::{Hit, Search};

impl Search for Room {
    fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        self.house.finder(&self.snapshot).search(query, limit)
    }
}
