//! What other clients make of the skills, as a table.

use super::judged::{Judged, Outcome};
use crate::output::{Output, Tone};
use anyhow::Result;
use metier_diagnostic::{Position, Span};
use metier_skill::profile::{Fate, Loads, Meaning, Profile, Verdict};
use serde_json::{Value, json};

/// From how many skills on the table counts them instead of naming each.
const MANY: usize = 20;

impl Judged {
    /// The name that the skill gives itself.
    fn name(&self) -> Option<&str> {
        let document = self.subject.as_ref()?.parsed.document.as_ref();
        document.map(|document| document.manifest.name.as_str())
    }

    /// The skill and every client that was asked for, for programs; `None` where nothing could be read.
    pub(super) fn portability(&self) -> Option<Value> {
        let subject = self.subject.as_ref()?;
        let mut row = json!({ "path": subject.shown.display().to_string() });
        if let Some(name) = self.name() {
            row["name"] = json!(name);
        }
        row["clients"] = self.verdicts.iter().map(|verdict| opinion(verdict, &subject.source)).collect();
        Some(row)
    }
}

fn opinion(verdict: &Verdict, source: &str) -> Value {
    let keys = |fate: Fate| {
        let of = verdict.keys.iter().filter(move |key| key.fate == fate);
        of.map(|key| key.key.as_str()).collect::<Vec<_>>()
    };
    let because = |key: Option<&str>, fate: Fate, reason: &str, span: Span| {
        let Position { line, column } = Position::of(source, span.start as usize);
        json!({ "key": key, "fate": word(fate), "reason": reason, "line": line, "column": column })
    };
    let of_keys = verdict
        .keys
        .iter()
        .filter_map(|key| Some(because(Some(&key.key), key.fate, key.reason.as_deref()?, key.span)));
    let of_file = verdict.notes.iter().map(|note| because(None, note.fate, &note.reason, note.span));
    let mut opinion = json!({ "client": verdict.profile.name(), "loads": verdict.loads.is_yes() });
    // It keeps the skills beside it from loading.
    if verdict.loads == Loads::NoAndOthers {
        opinion["stops_others"] = json!(true);
    }
    opinion["same_meaning"] = json!(verdict.meaning().word());
    for fate in [Fate::Ignored, Fate::Changed, Fate::Refused] {
        opinion[word(fate)] = json!(keys(fate));
    }
    opinion["reasons"] = of_keys.chain(of_file).collect();
    opinion
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
        let Some(subject) = &skill.subject else { continue };
        let path = subject.shown.display().to_string();
        let (title, place) = match skill.name() {
            Some(name) => (name.to_owned(), format!("  {path}")),
            None => (path, String::new()),
        };
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
