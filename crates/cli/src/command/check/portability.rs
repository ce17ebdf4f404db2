//! What other clients make of the skills, as a table.

use super::judged::{Judged, Outcome};
use crate::output::{Output, Tone};
use anyhow::Result;
use metier_diagnostic::{Position, Span};
use metier_skill::profile::{Fate, Loads, Meaning, Profile, Verdict};
use serde::Serialize;
use std::path::Path;

/// From how many skills on the table counts them instead of naming each.
const MANY: usize = 20;

/// One skill and every client that was asked for.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    path: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    clients: Vec<Opinion<'a>>,
}

#[derive(Serialize)]
struct Opinion<'a> {
    client: &'static str,
    loads: bool,
    /// Whether it keeps the skills beside it from loading.
    #[serde(skip_serializing_if = "is_false")]
    stops_others: bool,
    same_meaning: &'static str,
    ignored: Vec<&'a str>,
    changed: Vec<&'a str>,
    refused: Vec<&'a str>,
    reasons: Vec<Because<'a>>,
}

#[derive(Serialize)]
struct Because<'a> {
    key: Option<&'a str>,
    fate: &'static str,
    reason: &'a str,
    line: u32,
    column: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Judged {
    /// The skill's row; `None` where nothing could be read.
    pub(super) fn row(&self) -> Option<Row<'_>> {
        let subject = self.subject.as_ref()?;
        let name = subject.parsed.document.as_ref().map(|document| document.manifest.name.as_str());
        let clients = self.verdicts.iter().map(|verdict| opinion(verdict, &subject.source)).collect();
        Some(Row { path: &subject.shown, name, clients })
    }
}

fn opinion<'a>(verdict: &'a Verdict, source: &str) -> Opinion<'a> {
    let keys = |fate: Fate| {
        let of = verdict.keys.iter().filter(move |key| key.fate == fate);
        of.map(|key| key.key.as_str()).collect::<Vec<_>>()
    };
    let reason = |key: Option<&'a str>, fate: Fate, reason: &'a str, span: Span| {
        let position = Position::of(source, span.start as usize);
        Because { key, fate: word(fate), reason, line: position.line, column: position.column }
    };
    let of_keys = verdict
        .keys
        .iter()
        .filter_map(|key| Some(reason(Some(&key.key), key.fate, key.reason.as_deref()?, key.span)));
    let of_file = verdict.notes.iter().map(|note| reason(None, note.fate, &note.reason, note.span));
    Opinion {
        client: verdict.profile.name(),
        loads: verdict.loads.is_yes(),
        stops_others: verdict.loads == Loads::NoAndOthers,
        same_meaning: verdict.meaning().word(),
        ignored: keys(Fate::Ignored),
        changed: keys(Fate::Changed),
        refused: keys(Fate::Refused),
        reasons: of_keys.chain(of_file).collect(),
    }
}

fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Same => "same",
        Fate::Ignored => "ignored",
        Fate::Changed => "changed",
        Fate::Refused => "refused",
    }
}

/// Writes the table: a line per client and skill, or per client where there are many skills.
pub(super) fn write(outcome: &Outcome, output: &mut Output) -> Result<()> {
    if outcome.skills.len() >= MANY {
        return write_counts(outcome, output);
    }
    for skill in &outcome.skills {
        let Some(row) = skill.row() else { continue };
        let title = row.name.map_or_else(|| row.path.display().to_string(), str::to_owned);
        let place = if row.name.is_some() { format!("  {}", row.path.display()) } else { String::new() };
        output.line(format!(
            "{}{}",
            output.tinted(Tone::Strong, &title),
            output.tinted(Tone::Dim, &place)
        ))?;
        let head = format!("  {:<13} {:<18} {:<13} keys", "client", "loads there", "same meaning");
        output.line(output.tinted(Tone::Dim, &head))?;
        for verdict in &skill.verdicts {
            write_client(verdict, output)?;
        }
        output.line("")?;
    }
    Ok(())
}

fn write_client(verdict: &Verdict, output: &mut Output) -> Result<()> {
    let loads = format!("{:<18}", verdict.loads.word());
    let meaning = format!("{:<13}", verdict.meaning().word());
    let tone = match verdict.meaning() {
        Meaning::Same => Tone::Good,
        Meaning::Partly => Tone::Caution,
        Meaning::Different => Tone::Bad,
    };
    let loads_tone = if verdict.loads.is_yes() { Tone::Good } else { Tone::Bad };
    let mut parts = Vec::new();
    for (fate, word) in [(Fate::Refused, "refused"), (Fate::Changed, "changed"), (Fate::Ignored, "ignored")] {
        let mut keys: Vec<_> =
            verdict.keys.iter().filter(|key| key.fate == fate).map(|key| key.key.as_str()).collect();
        keys.dedup();
        if !keys.is_empty() {
            parts.push(format!("{word}: {}", keys.join(", ")));
        }
    }
    output.line(format!(
        "  {:<13} {} {} {}",
        verdict.profile.name(),
        output.tinted(loads_tone, &loads),
        output.tinted(tone, &meaning),
        crate::output::clean(&parts.join("; "))
    ))
}

fn write_counts(outcome: &Outcome, output: &mut Output) -> Result<()> {
    let head = format!(
        "{:<13} {:>8} {:>14} {:>14} {:>14}",
        "client", "skills", "load there", "mean the same", "partly"
    );
    output.line(output.tinted(Tone::Dim, &head))?;
    let verdicts = || outcome.skills.iter().flat_map(|skill| &skill.verdicts);
    for profile in Profile::ALL.iter().filter(|profile| verdicts().any(|one| one.profile == **profile)) {
        let of = || verdicts().filter(|one| one.profile == *profile);
        let meaning = |meaning: Meaning| of().filter(|one| one.meaning() == meaning).count();
        output.line(format!(
            "{:<13} {:>8} {:>14} {:>14} {:>14}",
            profile.name(),
            of().count(),
            of().filter(|one| one.loads.is_yes()).count(),
            meaning(Meaning::Same),
            meaning(Meaning::Partly),
        ))?;
    }
    output.line("")
}
