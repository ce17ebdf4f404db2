//! `stats`: which skills earn their place, and how requests find them.

use crate::args::Stats;
use crate::moment;
use crate::output::{Output, Tone, clean, shortened};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::{Include, Offered, RoutingRecord, RoutingStats};
use metier_diagnostic::grouped;
use metier_model::Money;
use metier_store::{Choosers, Offer, Routed, SkillStats, StatsQuery, Timestamp};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How many skills that nobody uses are named. The rest is a number.
const NAMED: usize = 30;

pub(crate) fn run(args: &Stats, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let project = surroundings.recorded_project(args.all);
    let query = StatsQuery { since: args.since, skill: args.skill.clone(), project };
    let (mut skills, requests) = match surroundings.store()? {
        Some(store) => (store.stats(&query)?, store.routed(&query)?),
        None => (Vec::new(), Vec::new()),
    };
    skills.sort_by(|one, other| other.chosen.cmp(&one.chosen).then_with(|| one.skill.cmp(&other.skill)));
    if args.routing {
        let routing = Routing::of(&requests, &skills);
        if output.is_json() {
            output.json(&routing.object())?;
        } else {
            routing.write(output)?;
        }
        return Ok(());
    }
    let unused = unused(&skills, args.skill.as_deref(), surroundings);
    if output.is_json() {
        let skills: Vec<Value> = skills.iter().map(object).collect();
        output.json(&json!({ "skills": skills, "never_used": unused }))?;
        return Ok(());
    }
    write_skills(&skills, &unused, output)
}

/// The skills that are here and did nothing.
fn unused(skills: &[SkillStats], only: Option<&str>, surroundings: &Surroundings) -> Vec<String> {
    let snapshot = surroundings.snapshot(Include::Usual);
    let known = snapshot.entries().filter(|(_, entry)| entry.is_listed()).filter_map(|(_, entry)| {
        let is_usable = entry.is_offered() || entry.is_user_invocable();
        is_usable.then(|| entry.name().to_string())
    });
    let known: BTreeSet<String> = known.filter(|name| only.is_none_or(|only| only == name)).collect();
    let is_used = |name: &String| skills.iter().any(|skill| skill.skill == *name && skill.chosen > 0);
    known.into_iter().filter(|name| !is_used(name)).collect()
}

fn object(skill: &SkillStats) -> Value {
    json!({
        "skill": skill.skill,
        "origins": skill.origins,
        "offered": skill.offered,
        "offered_first": skill.offered_first,
        "used": skill.chosen,
        "by": skill.by,
        "succeeded": skill.succeeded(),
        "outcomes": skill.outcomes,
        "tokens": skill.usage,
        "cost_micros": skill.cost_micros,
        "last_used": skill.last_used.map(|moment| moment.to_string()),
    })
}

fn write_skills(skills: &[SkillStats], unused: &[String], output: &mut Output) -> Result<()> {
    let used: Vec<&SkillStats> = skills.iter().filter(|skill| skill.chosen > 0).collect();
    if used.is_empty() {
        output.line("no skill was used; `metier run \"what is on my list\"` uses one")?;
    } else {
        let widest = used.iter().map(|skill| skill.skill.chars().count()).max().unwrap_or(5).clamp(5, 40);
        output.comment(format!(
            "{:<widest$}  {:>7}  {:>5}  {:>5}  {:>9}  {:>8}  {:<10}  by",
            "skill", "offered", "used", "well", "tokens", "cost", "last used"
        ))?;
        let now = Timestamp::now();
        for skill in used {
            let cost = match skill.cost_micros {
                0 => "-".to_owned(),
                micros => Money::from_micros(micros).to_string(),
            };
            let name = format!("{:<widest$}", shortened(&skill.skill, widest));
            let name = output.tinted(Tone::Strong, &name);
            output.line(format!(
                "{name}  {:>7}  {:>5}  {:>5}  {:>9}  {cost:>8}  {:<10}  {}",
                grouped(skill.offered),
                grouped(skill.chosen),
                grouped(skill.succeeded()),
                grouped(skill.usage.uncached()),
                skill.last_used.map(|moment| moment::ago(moment, now)).unwrap_or_default(),
                by(&skill.by),
            ))?;
        }
    }
    name_all("never used", unused, output)
}

/// Who started a skill, and how often.
fn by(by: &Choosers) -> String {
    let Choosers { user, model, caller, agent, parent, metier } = *by;
    let all = [
        ("model", model),
        ("user", user),
        ("caller", caller),
        ("agent", agent),
        ("parent", parent),
        ("metier", metier),
    ];
    let all = all.iter().filter(|(_, times)| *times > 0);
    all.map(|(who, times)| format!("{who} {}", grouped(*times))).collect::<Vec<_>>().join(", ")
}

/// How requests found their skills.
struct Routing {
    stats: RoutingStats,
    requests: u64,
    abstained: u64,
    /// At which rank the first skill that was used had been offered, and how often; 0 is one that was not offered.
    ranks: BTreeMap<usize, u64>,
    /// Offered, and never chosen.
    passed_over: Vec<String>,
}

impl Routing {
    fn of(requests: &[Routed], skills: &[SkillStats]) -> Self {
        let records: Vec<RoutingRecord> = requests.iter().map(record).collect();
        let mut ranks = BTreeMap::new();
        for record in records.iter().filter(|record| !record.used.is_empty()) {
            *ranks.entry(record.rank().unwrap_or(0)).or_default() += 1;
        }
        let passed_over = skills.iter().filter(|skill| skill.offered > 0 && skill.chosen == 0);
        Self {
            stats: RoutingStats::of(&records),
            requests: requests.len() as u64,
            abstained: requests.iter().filter(|request| request.abstained).count() as u64,
            ranks,
            passed_over: passed_over.map(|skill| skill.skill.clone()).collect(),
        }
    }

    fn object(&self) -> Value {
        json!({
            "requests": self.requests,
            "abstained": self.abstained,
            "ranks": self.ranks,
            "routing": self.stats,
            "offered_never_chosen": self.passed_over,
        })
    }

    fn write(&self, output: &mut Output) -> Result<()> {
        if self.requests == 0 {
            return output.line("no request was routed yet; `metier route \"REQUEST\"` tries one");
        }
        let RoutingStats { requests, unused, hit_at_1, hit_at_5, mean_reciprocal_rank, .. } = self.stats;
        let all = grouped(self.requests);
        output.line(format!("{all} requests: a skill was used for {requests}, none for {unused}"))?;
        output.line(format!("the router abstained {} times", grouped(self.abstained)))?;
        if requests > 0 {
            output.line(format!(
                "the skill that was used had been offered first in {}, among the first five in {} (mean reciprocal rank \
                 {mean_reciprocal_rank:.2})",
                percent(hit_at_1),
                percent(hit_at_5),
            ))?;
            let ranks = self.ranks.iter().map(|(rank, times)| match rank {
                0 => format!("not offered: {}", grouped(*times)),
                rank => format!("rank {rank}: {}", grouped(*times)),
            });
            output.line(ranks.collect::<Vec<_>>().join("; "))?;
        }
        name_all("offered and never chosen", &self.passed_over, output)
    }
}

fn record(request: &Routed) -> RoutingRecord {
    #[expect(clippy::cast_possible_truncation, reason = "a score has a few digits that mean something")]
    let offered = |offer: &Offer| Offered { name: offer.name.clone(), score: offer.score as f32 };
    RoutingRecord {
        offered: request.shortlist.iter().map(offered).collect(),
        searched: 0,
        abstain: request.abstained.then(|| "abstained".to_owned()),
        used: request.used.clone(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Names skills, as many as somebody reads.
fn name_all(what: &str, names: &[String], output: &mut Output) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| clean(name)).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
    let text = format!("{what} ({}): {}{more}", grouped(names.len() as u64), shown.join(", "));
    output.comment(format!("\n{text}"))
}
