//! For people: each finding with its line, then the table of clients, then one line that counts.

use super::super::judged::{Judged, Outcome};
use super::super::mending::Mending;
use super::super::portability;
use super::super::workers::in_parallel;
use super::source;
use crate::args::Check;
use crate::output::{Output, Tone};
use crate::screen;
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_diagnostic::{Diagnostic, Diff, Severity, counted, render_report};
use std::path::Path;

pub(super) fn write(
    args: &Check,
    outcome: &Outcome,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<()> {
    // A text from standard input has no file to be written to, so it goes on to standard output.
    let streamed: Vec<&Judged> =
        outcome.skills.iter().filter(|skill| args.fix && skill.is_stream()).collect();
    if !streamed.is_empty() {
        return write_streamed(&streamed, output);
    }
    if args.diff {
        for Mending { shown, before, after, .. } in outcome.mendings() {
            let diff = Diff::new(shown, before, after);
            // A person gets it harmless, a program byte for byte: `metier check --diff . | git apply`.
            if screen::out_is_terminal() {
                output.rendered(&diff.shown(output.paint()))?;
            } else {
                output.raw(diff.patch().as_bytes())?;
            }
        }
    } else {
        write_findings(outcome, surroundings, output)?;
    }
    if !args.profiles.is_empty() {
        portability::write(outcome, output)?;
    }
    let summary = summary(args, outcome, output);
    // Beside a patch there is no place for words.
    if args.diff {
        output.aside(&summary)?;
    } else {
        output.line(summary)?;
    }
    Ok(())
}

fn write_streamed(streamed: &[&Judged], output: &mut Output) -> Result<()> {
    for skill in streamed {
        let text = skill.mendings.first().map(|mending| mending.after.as_str());
        let text = text.or(skill.original.as_deref()).unwrap_or_default();
        output.text(text)?;
    }
    Ok(())
}

fn write_findings(outcome: &Outcome, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let stdin = outcome.skills.iter().find(|skill| skill.is_stream());
    let findings: Vec<Diagnostic> = outcome.findings().cloned().collect();
    let paint = output.paint();
    let text_of = |path: &Path| match stdin {
        Some(skill) if skill.is_at(path) => skill.original.clone(),
        _ => source(path, surroundings),
    };
    // What was said of a file is not said again, so all findings of one are rendered together.
    let files: Vec<&[Diagnostic]> = findings.chunk_by(|one, other| one.path == other.path).collect();
    for report in in_parallel(&files, |findings| render_report(findings, text_of, paint)) {
        output.rendered(report.trim_end_matches('\n'))?;
        output.line("")?;
        output.line("")?;
    }
    Ok(())
}

fn summary(args: &Check, outcome: &Outcome, output: &Output) -> String {
    let (errors, warnings) = (outcome.count(Severity::Error), outcome.count(Severity::Warning));
    let tone = match (errors, warnings) {
        (0, 0) => Tone::Good,
        (0, _) => Tone::Caution,
        _ => Tone::Bad,
    };
    let skills = counted(outcome.skills.len(), "skill", "skills");
    let agents = counted(outcome.agents.len(), "agent", "agents");
    let checked = match (outcome.skills.len(), outcome.agents.len()) {
        (_, 0) => skills,
        (0, _) => agents,
        _ => format!("{skills} and {agents}"),
    };
    let mut said = format!(
        "checked {checked}: {}, {}, {}",
        counted(errors, "error", "errors"),
        counted(warnings, "warning", "warnings"),
        counted(outcome.count(Severity::Info), "note", "notes"),
    );
    if outcome.allowed > 0 {
        said.push_str(&format!(", {} allowed by the configuration", outcome.allowed));
    }
    let fixes: usize = outcome.mendings().map(|mending| mending.fixes).sum();
    if args.fix {
        said.push_str(&format!("; mended {} in {}", counted(fixes, "place", "places"), files(outcome)));
        if outcome.fixable() > 0 {
            let left = counted(outcome.fixable(), "fix", "fixes");
            said.push_str(&format!(
                "; left out {left}: the file is a link or not UTF-8, or another key would read differently"
            ));
        }
    } else if args.diff {
        said.push_str(&format!("; `--fix` would change {}", files(outcome)));
    } else if outcome.fixable() > 0 {
        said.push_str(&format!("; `--fix` mends {}", counted(outcome.fixable(), "of them", "of them")));
    }
    output.tinted(tone, &said)
}

fn files(outcome: &Outcome) -> String {
    counted(outcome.mendings().count(), "file", "files")
}
