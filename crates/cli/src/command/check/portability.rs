//! What other clients make of the skills, as a table.

use super::judged::{Judged, Outcome};
use crate::output::{Output, Tone};
use anyhow::Result;
use metier_diagnostic::Position;
use metier_skill::profile::{Fate, Loads, Meaning, Profile, Remark, Verdict};
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
    let reasons = verdict.remarks.iter().filter_map(|Remark { key, fate, reason, span, .. }| {
        let Position { line, column } = Position::of(source, span.start as usize);
        let reason = reason.as_ref()?;
        Some(json!({ "key": key, "fate": word(*fate), "reason": reason, "line": line, "column": column }))
    });
    let mut opinion = json!({ "client": verdict.profile.name(), "loads": verdict.loads.is_yes() });
    // It keeps the skills beside it from loading.
    if verdict.loads == Loads::NoAndOthers {
        opinion["stops_others"] = json!(true);
    }
    opinion["same_meaning"] = json!(verdict.meaning().word());
    for fate in [Fate::Ignored, Fate::Changed, Fate::Refused] {
        opinion[word(fate)] = json!(keys_with(verdict, fate));
    }
    opinion["reasons"] = reasons.collect();
    opinion
}

/// The keys of which this becomes, in the order of the file.
fn keys_with(verdict: &Verdict, fate: Fate) -> Vec<&str> {
    let of = verdict.remarks.iter().filter(|remark| remark.fate == fate);
    of.filter_map(|remark| remark.key.as_deref()).collect()
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
        let mut keys = keys_with(verdict, fate);
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
