//! What a model is told beside its catalogue: the skills that fit this request, in full.
//!
//! The catalogue stands at the beginning of a conversation and never changes, so that a prompt cache holds. Over its budget it
//! has most skills by name or in a count alone. What fits a request is known only with the request, so it comes with it, as a note.

use super::route::Route;
use crate::catalogue::whole_line;
use crate::snapshot::Snapshot;
use crate::tokens::Tokens;

/// The most tokens that a shortlist takes: a quarter of the catalogue's usual budget, since it comes with every request.
pub const SHORTLIST_BUDGET: Tokens = Tokens(1_000);

/// The most skills on it. Models choose worse from longer lists, and of what was wanted 94 % is among the first ten.
pub const SHORTLIST_LENGTH: usize = 10;

/// The skills that fit a request, each with its full description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortlist {
    /// The note; empty where nothing fits.
    pub text: String,
    /// How many skills on it have their full description; the others are there by name.
    pub described: usize,
    /// How many there are.
    pub skills: usize,
    /// What it takes.
    pub tokens: Tokens,
}

impl Shortlist {
    /// The note for a route. A description that would go over the budget is left out as a whole, never cut: the skill stays by
    /// name, and a shorter one behind it may still fit.
    pub fn new(snapshot: &Snapshot, route: &Route, budget: Tokens, search: &str) -> Self {
        let skills = route.searched;
        let mut used = head(SHORTLIST_LENGTH, skills, search).len();
        let (mut lines, mut names) = (Vec::new(), Vec::new());
        for routed in route.skills.iter().take(SHORTLIST_LENGTH) {
            let Some(entry) = snapshot.entry(routed.entry) else { continue };
            let line = whole_line(&snapshot.offer(entry));
            let name = format!("- **{}**\n", entry.call_name());
            if used + line.len() <= budget.bytes() {
                used += line.len();
                lines.push(line);
            } else if used + name.len() <= budget.bytes() {
                used += name.len();
                names.push(name);
            }
        }
        let mut text = String::new();
        if !lines.is_empty() || !names.is_empty() {
            text = head(lines.len() + names.len(), skills, search);
            text.extend(lines.iter().chain(&names).map(String::as_str));
        }
        Self { described: lines.len(), skills, tokens: Tokens::of(&text), text }
    }
}

fn head(listed: usize, skills: usize, search: &str) -> String {
    format!("Of {skills} skills these {listed} fit the request best; `{search}` finds the others.\n\n")
}
