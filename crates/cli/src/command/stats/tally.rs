//! What events say about skills, counted.

use metier_catalog::{Offered, RoutingRecord, RoutingStats};
use metier_store::{By, Event, EventKind, Outcome, SessionId, Timestamp, Usage};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Counts events, which have to come in the order in which they happened.
#[derive(Debug, Default)]
pub(super) struct Tally {
    skills: BTreeMap<String, Skill>,
    /// What was offered for each message and what was then used, in the order of the messages.
    records: Vec<RoutingRecord>,
    /// The record of the message that a session is at.
    current: HashMap<SessionId, usize>,
}

/// One skill.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Skill {
    pub(super) name: String,
    /// For how many messages it was offered.
    pub(super) offered: u64,
    /// Who activated it, and how often.
    pub(super) by: BTreeMap<String, u64>,
    /// How many uses ended well.
    pub(super) succeeded: u64,
    pub(super) usage: Usage,
    pub(super) cost_micros: u64,
    pub(super) last_used: Option<Timestamp>,
}

/// Skills that did nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Never {
    /// Here, and never used.
    pub(super) unused: Vec<String>,
    /// Offered, and never chosen.
    pub(super) offered: Vec<String>,
}

impl Skill {
    /// How often it was used.
    pub(super) fn uses(&self) -> u64 {
        self.by.values().sum()
    }
}

impl Tally {
    /// Takes an event. What happened before `since` is not counted.
    pub(super) fn take(&mut self, event: &Event, since: Option<Timestamp>) {
        if since.is_some_and(|since| event.at < since) {
            return;
        }
        match &event.kind {
            // A new message: what was offered before is over.
            EventKind::Started(_) | EventKind::Said { .. } => {
                self.current.remove(&event.session);
            }
            EventKind::Offered { shortlist, abstained, .. } => {
                let offered = shortlist
                    .iter()
                    .map(|offer| Offered { name: offer.name.clone(), score: score(offer.score) });
                self.current.insert(event.session, self.records.len());
                self.records.push(RoutingRecord {
                    offered: offered.collect(),
                    searched: 0,
                    abstain: abstained.then(|| "abstained".to_owned()),
                    used: Vec::new(),
                });
                for offer in shortlist {
                    self.skill(&offer.name).offered += 1;
                }
            }
            EventKind::Activated(activated) => self.chosen(event.session, &activated.skill),
            EventKind::ChildBegan { skill: Some(skill), .. } => self.chosen(event.session, skill),
            EventKind::Used(used) => {
                let skill = self.skill(&used.skill);
                *skill.by.entry(by(used.by).to_owned()).or_default() += 1;
                skill.succeeded += u64::from(used.outcome == Outcome::Done);
                skill.usage += used.usage;
                skill.cost_micros = skill.cost_micros.saturating_add(used.cost_micros);
                skill.last_used = skill.last_used.max(Some(event.at));
            }
            _ => {}
        }
    }

    fn skill(&mut self, name: &str) -> &mut Skill {
        let skill = self.skills.entry(name.to_owned()).or_default();
        name.clone_into(&mut skill.name);
        skill
    }

    fn chosen(&mut self, session: SessionId, name: &str) {
        if let Some(record) = self.current.get(&session).and_then(|at| self.records.get_mut(*at)) {
            record.use_skill(name);
        }
    }

    /// The skills of these names, the most used first.
    pub(super) fn skills(&self, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = &Skill> {
        let mut skills: Vec<&Skill> = self.skills.values().filter(|skill| is_wanted(&skill.name)).collect();
        skills.sort_by(|one, other| other.uses().cmp(&one.uses()).then_with(|| one.name.cmp(&other.name)));
        skills.into_iter()
    }

    /// Which of the skills that are here did nothing.
    pub(super) fn never(&self, known: impl Iterator<Item = String>, only: Option<&str>) -> Never {
        let known: BTreeSet<String> = known.filter(|name| only.is_none_or(|only| only == name)).collect();
        let is_unused = |name: &&String| self.skills.get(*name).is_none_or(|skill| skill.uses() == 0);
        let unused = known.iter().filter(is_unused).cloned().collect();
        let is_passed_over = |skill: &&Skill| {
            let is_wanted = only.is_none_or(|only| only == skill.name);
            is_wanted && skill.offered > 0 && skill.uses() == 0
        };
        let offered = self.skills.values().filter(is_passed_over).map(|skill| skill.name.clone()).collect();
        Never { unused, offered }
    }

    /// How well requests found their skills.
    pub(super) fn routing(&self) -> RoutingStats {
        RoutingStats::of(&self.records)
    }

    /// For how many messages skills were looked for.
    pub(super) fn messages(&self) -> u64 {
        self.records.len() as u64
    }

    /// For how many of them the router would not have chosen.
    pub(super) fn abstained(&self) -> u64 {
        self.records.iter().filter(|record| record.abstain.is_some()).count() as u64
    }

    /// At which rank the first skill that was used had been offered, and how often; 0 is one that was not offered.
    pub(super) fn ranks(&self) -> BTreeMap<usize, u64> {
        let mut ranks = BTreeMap::new();
        for record in self.records.iter().filter(|record| !record.used.is_empty()) {
            *ranks.entry(record.rank().unwrap_or(0)).or_default() += 1;
        }
        ranks
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a score has a few digits that mean something")]
fn score(score: f64) -> f32 {
    score as f32
}

/// Who it was, in one word.
fn by(by: By) -> &'static str {
    match by {
        By::User => "user",
        By::Model => "model",
        By::Caller => "caller",
        By::Agent => "agent",
        By::Parent => "parent",
        By::Metier => "metier",
    }
}
