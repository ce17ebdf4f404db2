//! `stats`: which skills earn their place, and how requests find them.

mod tally;

use self::tally::{Never, Skill, Tally};
use crate::args::Stats;
use crate::event_line::{fresh, grouped};
use crate::exit::Exit;
use crate::history_place;
use crate::moment;
use crate::output::{Form, Output, Tone, clean, shortened};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::{Include, RoutingStats};
use metier_model::Money;
use metier_store::{EventQuery, Timestamp};
use serde_json::{Value, json};

/// How many skills that nobody uses are named. The rest is a number.
const NAMED: usize = 30;

/// The kinds of events that are counted.
const COUNTED: [&str; 6] = ["started", "said", "offered", "activated", "child_began", "used"];

pub(crate) fn run(args: &Stats, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let mut tally = Tally::default();
    if let Some(store) = history_place::existing(&surroundings.places)? {
        let query = COUNTED.iter().fold(EventQuery::all(), |query, kind| query.kind(*kind));
        for event in store.events(&query)? {
            tally.take(&event, args.since);
        }
    }
    let snapshot = surroundings.snapshot(Include::Usual);
    let known = snapshot.entries().filter(|(_, entry)| entry.is_offered() || entry.is_user_invocable());
    let known = known.filter(|(_, entry)| entry.is_listed()).map(|(_, entry)| entry.name().to_string());
    let never = tally.never(known, args.skill.as_deref());
    let skills: Vec<&Skill> =
        tally.skills(|name| args.skill.as_deref().is_none_or(|wanted| wanted == name)).collect();
    match (output.form(), args.routing) {
        (Form::Json, false) => output.json(&json!({
            "skills": skills.iter().map(|skill| object(skill)).collect::<Vec<Value>>(),
            "never_used": never.unused,
        }))?,
        (Form::Json, true) => output.json(&json!({
            "routing": tally.routing(),
            "abstained": tally.abstained(),
            "messages": tally.messages(),
            "ranks": tally.ranks(),
            "offered_never_chosen": never.offered,
        }))?,
        (Form::Text, false) => write_skills(&skills, &never, output)?,
        (Form::Text, true) => write_routing(&tally, &never, output)?,
    }
    Ok(Exit::Fine)
}

fn object(skill: &Skill) -> Value {
    json!({
        "skill": skill.name,
        "offered": skill.offered,
        "used": skill.uses(),
        "by": skill.by.iter().map(|(by, times)| (by.clone(), json!(times))).collect::<serde_json::Map<_, _>>(),
        "succeeded": skill.succeeded,
        "tokens": skill.usage,
        "cost_micros": skill.cost_micros,
        "last_used": skill.last_used.map(|moment| moment.to_string()),
    })
}

fn write_skills(skills: &[&Skill], never: &Never, output: &mut Output) -> Result<()> {
    let used: Vec<&&Skill> = skills.iter().filter(|skill| skill.uses() > 0).collect();
    if used.is_empty() {
        output.line("no skill was used; `metier run \"what is on my list\"` uses one")?;
    } else {
        let widest = used.iter().map(|skill| skill.name.chars().count()).max().unwrap_or(5).clamp(5, 40);
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
            let by: Vec<String> =
                skill.by.iter().map(|(by, times)| format!("{by} {}", grouped(*times))).collect();
            let name = format!("{:<widest$}", shortened(&skill.name, widest));
            let name = output.tinted(Tone::Strong, &name);
            output.line(format!(
                "{name}  {:>7}  {:>5}  {:>5}  {:>9}  {cost:>8}  {:<10}  {}",
                grouped(skill.offered),
                grouped(skill.uses()),
                grouped(skill.succeeded),
                grouped(fresh(&skill.usage)),
                skill.last_used.map(|moment| moment::ago(moment, now)).unwrap_or_default(),
                by.join(", "),
            ))?;
        }
    }
    name_all("never used", &never.unused, output)
}

fn write_routing(tally: &Tally, never: &Never, output: &mut Output) -> Result<()> {
    let RoutingStats { requests, unused, hit_at_1, hit_at_5, mean_reciprocal_rank, .. } = tally.routing();
    let (messages, abstained) = (tally.messages(), tally.abstained());
    if messages == 0 {
        output.line("no request was routed yet; `metier route \"REQUEST\"` tries one")?;
        return Ok(());
    }
    output.line(format!(
        "{} messages: a skill was used for {requests}, none for {unused}",
        grouped(messages)
    ))?;
    output.line(format!("the router abstained {} times", grouped(abstained)))?;
    if requests > 0 {
        output.line(format!(
            "the skill that was used had been offered first in {}, among the first five in {} (mean reciprocal rank {mean_reciprocal_rank:.2})",
            percent(hit_at_1),
            percent(hit_at_5),
        ))?;
        let ranks: Vec<String> = tally
            .ranks()
            .iter()
            .map(|(rank, times)| match rank {
                0 => format!("not offered {}", grouped(*times)),
                rank => format!("rank {rank}: {}", grouped(*times)),
            })
            .collect();
        output.line(ranks.join("; "))?;
    }
    name_all("offered and never chosen", &never.offered, output)
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
    Ok(output.comment(format!("\n{text}"))?)
}
