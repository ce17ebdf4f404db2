//! Which skills earn their place: what was offered, what was chosen, and what came of it.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use serde::Serialize;
use serde_json::Value;

use crate::query::id;
use crate::{By, Offer, Outcome, SessionId, Timestamp, Usage, Used};

/// Which part of the history is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatsQuery {
    /// What happened at this moment or later.
    pub since: Option<Timestamp>,
    /// This skill only.
    pub skill: Option<String>,
    /// Sessions of this project only.
    pub project: Option<String>,
}

/// One skill, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SkillStats {
    /// Its name.
    pub skill: String,
    /// Where it is from, as far as it was used; a name alone can be several skills.
    pub origins: Vec<String>,
    /// How often it was in a shortlist.
    pub offered: u64,
    /// How often it stood first in one.
    pub offered_first: u64,
    /// How often it was used.
    pub chosen: u64,
    /// By whom.
    pub by: Choosers,
    /// How its uses ended.
    pub outcomes: Outcomes,
    /// What its uses took.
    pub usage: Usage,
    /// What they cost, in millionths.
    pub cost_micros: u64,
    /// When it was used last.
    pub last_used: Option<Timestamp>,
}

impl SkillStats {
    /// How many of its uses ended as they should.
    pub fn succeeded(&self) -> u64 {
        self.outcomes.done
    }
}

/// Who chose a skill, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Choosers {
    /// A person.
    pub user: u64,
    /// The model.
    pub model: u64,
    /// A program.
    pub caller: u64,
    /// An agent file.
    pub agent: u64,
    /// The session above.
    pub parent: u64,
    /// metier itself.
    pub metier: u64,
}

impl Choosers {
    fn count(&mut self, by: By) {
        *match by {
            By::User => &mut self.user,
            By::Model => &mut self.model,
            By::Caller => &mut self.caller,
            By::Agent => &mut self.agent,
            By::Parent => &mut self.parent,
            By::Metier => &mut self.metier,
        } += 1;
    }
}

/// How things ended, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcomes {
    /// As they should.
    pub done: u64,
    /// With a part of the result.
    pub partial: u64,
    /// Without a result.
    pub failed: u64,
    /// Stopped by somebody.
    pub cancelled: u64,
    /// For want of a yes.
    pub needs_yes: u64,
}

impl Outcomes {
    fn count(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Done => &mut self.done,
            Outcome::Partial => &mut self.partial,
            Outcome::Failed => &mut self.failed,
            Outcome::Cancelled => &mut self.cancelled,
            Outcome::NeedsYes => &mut self.needs_yes,
        } += 1;
    }
}

/// One request of a session: what was offered for it, and what was activated before the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Routed {
    /// In which session.
    pub session: SessionId,
    /// When.
    pub at: Timestamp,
    /// What was offered, the best first.
    pub shortlist: Vec<Offer>,
    /// Whether none fits well enough.
    pub abstained: bool,
    /// The skills that were activated, in order, each once.
    pub used: Vec<String>,
}

/// A row that counts.
struct Row {
    session: SessionId,
    at: Timestamp,
    kind: String,
    skill: Option<String>,
    data: Value,
}

impl StatsQuery {
    /// Every skill that was ever offered or used, by name.
    pub(crate) fn skills(&self, connection: &Connection) -> rusqlite::Result<Vec<SkillStats>> {
        let mut skills: BTreeMap<String, SkillStats> = BTreeMap::new();
        self.each(connection, |row| {
            if row.kind == "offered" {
                for offer in shortlist(&row.data) {
                    let one = skills.entry(offer.name).or_default();
                    one.offered += 1;
                    one.offered_first += u64::from(offer.rank == 1);
                }
            } else if let Ok(used) = serde_json::from_value::<Used>(row.data) {
                let one = skills.entry(used.skill).or_default();
                one.chosen += 1;
                one.by.count(used.by);
                one.outcomes.count(used.outcome);
                one.usage += used.usage;
                one.cost_micros = one.cost_micros.saturating_add(used.cost_micros);
                one.last_used = one.last_used.max(Some(row.at));
                if !one.origins.contains(&used.origin) {
                    one.origins.push(used.origin);
                }
            }
        })?;
        let wanted = |name: &String| self.skill.as_ref().is_none_or(|skill| skill == name);
        let named = |(name, mut one): (String, SkillStats)| {
            one.skill = name;
            one.origins.sort();
            one
        };
        Ok(skills.into_iter().filter(|(name, _)| wanted(name)).map(named).collect())
    }

    /// Every request for which skills were looked for, oldest first.
    pub(crate) fn routed(&self, connection: &Connection) -> rusqlite::Result<Vec<Routed>> {
        let mut routed: Vec<Routed> = Vec::new();
        self.each(connection, |row| match row.kind.as_str() {
            "offered" => {
                let abstained = row.data["abstained"].as_bool().unwrap_or_default();
                let shortlist = shortlist(&row.data);
                let Row { session, at, .. } = row;
                routed.push(Routed { session, at, shortlist, abstained, used: Vec::new() });
            }
            "activated" => {
                let Some(last) = routed.last_mut().filter(|last| last.session == row.session) else { return };
                if let Some(skill) = row.skill.filter(|skill| !last.used.contains(skill)) {
                    last.used.push(skill);
                }
            }
            _ => {}
        })?;
        if let Some(skill) = &self.skill {
            let is_about = |one: &Routed| {
                one.used.contains(skill) || one.shortlist.iter().any(|offer| offer.name == *skill)
            };
            routed.retain(is_about);
        }
        routed.sort_by_key(|one| one.at);
        Ok(routed)
    }

    fn each(&self, connection: &Connection, mut take: impl FnMut(Row)) -> rusqlite::Result<()> {
        // The words of the condition are those of the index, so that it is used. Texts of activations are not needed.
        let mut statement = connection.prepare_cached(
            "SELECT s.id, e.at, e.type, e.skill, CASE e.type WHEN 'activated' THEN 'null' ELSE e.data END
             FROM event e JOIN session s ON s.number = e.session
             WHERE e.type IN ('offered', 'activated', 'used') AND e.at >= ?1
             AND (?2 IS NULL OR s.project = ?2) ORDER BY e.session, e.seq",
        )?;
        let mut rows = statement.query(params![self.since.map_or(0, Timestamp::millis), self.project])?;
        while let Some(row) = rows.next()? {
            // A row that is not JSON counts for nothing, and hides no other.
            let data = serde_json::from_str(row.get_ref(4)?.as_str()?).unwrap_or_default();
            let at = Timestamp::from_millis(row.get(1)?);
            take(Row { session: id(row, 0)?, at, kind: row.get(2)?, skill: row.get(3)?, data });
        }
        Ok(())
    }
}

fn shortlist(data: &Value) -> Vec<Offer> {
    serde_json::from_value(data["shortlist"].clone()).unwrap_or_default()
}
