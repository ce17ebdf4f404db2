//! `runs`: the sessions of this project, newest first.

use crate::args::{Ending as Wanted, Runs};
use crate::event_line::{Style, ended, of_outcome};
use crate::moment;
use crate::output::{Output, clean, shortened, width};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_diagnostic::grouped;
use metier_model::Money;
use metier_store::{Ending, Family, Outcome, SessionFilter, Store, Summary, Timestamp};
use serde_json::{Value, json};
use std::path::Path;

/// The widest list of skills that lines up.
const SKILLS_COLUMN: usize = 16;

pub(crate) fn run(args: &Runs, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let filter = SessionFilter {
        skill: args.skill.clone(),
        ending: args.outcome.map(ending),
        since: args.since,
        project: surroundings.recorded_project(args.all),
        text: args.search.clone(),
        // What a run handed on to a child is a part of that run.
        family: Family::TopLevel,
        // One more than is shown, to know whether there are more.
        limit: Some(args.number.saturating_add(1)),
        ..SessionFilter::default()
    };
    let store = surroundings.store()?;
    let mut found = match &store {
        Some(store) => store.sessions(&filter)?,
        None => Vec::new(),
    };
    let has_more = found.len() > args.number;
    found.truncate(args.number);
    if output.is_json() {
        let runs: Vec<Value> = found.iter().map(object).collect();
        return output.json(&json!({"runs": runs, "more": has_more}));
    }
    if found.is_empty() {
        return output.line(why_none(args, store.as_ref(), surroundings)?);
    }
    let now = Timestamp::now();
    output.comment(format!(
        "{:<6}  {:<10}  {:<11}  {:>5}  {:>9}  {:>8}  {:<SKILLS_COLUMN$}  request",
        "id", "when", "outcome", "turns", "tokens", "cost", "skills"
    ))?;
    let mut last = None;
    for summary in &found {
        if args.all && last != Some(&summary.project) {
            let project = summary.project.as_deref().map_or_else(
                || "outside of a project".to_owned(),
                |project| format!("in {}", surroundings.shown(Path::new(project))),
            );
            output.comment(clean(&project))?;
            last = Some(&summary.project);
        }
        write(summary, now, output)?;
    }
    if has_more {
        let all = if args.all { " --all" } else { "" };
        output.comment(format!("there are more: `metier runs{all} -n {}`", args.number.saturating_mul(2)))?;
    }
    output.comment("`metier log ID` shows one of them")
}

/// Why the list is empty, and what to try.
fn why_none(args: &Runs, store: Option<&Store>, surroundings: &Surroundings) -> Result<&'static str> {
    let has_any = |project| -> Result<bool> {
        let filter = SessionFilter { limit: Some(1), project, ..SessionFilter::default() };
        Ok(store.map(|store| store.sessions(&filter)).transpose()?.is_some_and(|found| !found.is_empty()))
    };
    let own = surroundings.recorded_project(args.all);
    Ok(if has_any(own)? {
        "no run fits; `metier runs` without flags lists the latest"
    } else if has_any(None)? {
        "nothing has run in this project; `metier runs --all` lists the runs of others"
    } else {
        "nothing has run yet; try `metier run \"what is on my list\"`"
    })
}

/// One line: id, when, how it ended, turns, tokens, cost, skills, and what was asked for.
fn write(summary: &Summary, now: Timestamp, output: &mut Output) -> Result<()> {
    let (word, style) = match summary.outcome {
        Some(Outcome::Done) => ("done", Style::Done),
        Some(outcome) => (ended(outcome), of_outcome(outcome, Style::Done)),
        None => ("open", Style::Caution),
    };
    let skills = if summary.skills.is_empty() { "-".to_owned() } else { summary.skills.join(", ") };
    let cost = if summary.cost_micros > 0 {
        Money::from_micros(summary.cost_micros).to_string()
    } else {
        "-".to_owned()
    };
    let outcome = format!("{word:<11}");
    let outcome = match style.tone() {
        Some(tone) => output.tinted(tone, &outcome),
        None => outcome,
    };
    let facts = format!(
        "{:>5}  {:>9}  {cost:>8}  {:<SKILLS_COLUMN$}",
        summary.turns,
        grouped(summary.usage.uncached()),
        shortened(&skills, SKILLS_COLUMN),
    );
    let start = format!("{}  {:<10}  ", summary.id.short(), moment::ago(summary.changed, now));
    let room = width().saturating_sub(start.chars().count() + 13 + facts.chars().count() + 2).max(20);
    output.line(format!("{start}{outcome}  {facts}  {}", shortened(&summary.title, room)))
}

fn ending(wanted: Wanted) -> Ending {
    match wanted {
        Wanted::Done => Ending::With(Outcome::Done),
        Wanted::Partial => Ending::With(Outcome::Partial),
        Wanted::Failed => Ending::With(Outcome::Failed),
        Wanted::Cancelled => Ending::With(Outcome::Cancelled),
        Wanted::NeedsYes => Ending::With(Outcome::NeedsYes),
        Wanted::Open => Ending::Open,
    }
}

fn object(summary: &Summary) -> Value {
    json!({
        "id": summary.id,
        "short": summary.id.short(),
        "began": summary.began.to_string(),
        "changed": summary.changed.to_string(),
        "outcome": summary.outcome.map(Outcome::word),
        "request": summary.title,
        "by": summary.by,
        "project": summary.project,
        "model": summary.model,
        "agent": summary.agent,
        "turns": summary.turns,
        "calls": summary.calls,
        "tokens": summary.usage,
        "cost_micros": summary.cost_micros,
        "skills": summary.skills,
        "events": summary.last_seq,
    })
}
