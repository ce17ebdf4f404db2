//! `explain`: one clear answer about a name, an action, or the last refusal.

mod action;

use crate::args::Explain;
use crate::declared::Around;
use crate::output::{Output, Tone, clean};
use crate::requirement::{Unmet, unmet};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::{ExplainedSkill, Explanation, InCatalogue, Include, Lookup, Parsing, Snapshot};
use std::sync::Arc;

pub(crate) fn run(args: &Explain, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    match (&args.action, &args.name) {
        (Some(text), _) => action::action(text, &args.scope.skills, surroundings, output),
        (None, Some(name)) => explain_name(name, surroundings, output),
        (None, None) => action::last(surroundings, output),
    }
}

fn explain_name(name: &str, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let snapshot = Arc::new(surroundings.snapshot(Include::Usual));
    let options = snapshot.catalogue_options(None);
    let explanation = snapshot.explain(name, &options);
    let (unmet, around) = counted_on(name, &snapshot, surroundings);
    if output.is_json() {
        let mut answer = serde_json::to_value(&explanation)?;
        answer["unmet"] = serde_json::to_value(&unmet)?;
        answer["around"] = serde_json::to_value(&around)?;
        return output.json(&answer);
    }
    write(&explanation, surroundings, output)?;
    let lines = around.as_ref().map(Around::lines).unwrap_or_default();
    if !lines.is_empty() {
        output.section("what its text counts on")?;
    }
    for (label, line) in lines {
        output.line(format!("  {label:<14} {line}"))?;
    }
    if !unmet.is_empty() {
        output.section("what it requires and is not here")?;
    }
    for unmet in &unmet {
        output.line(format!("  {}; {}", clean(&unmet.what), clean(&unmet.help)))?;
    }
    Ok(())
}

/// What the skill that a name means requires and is not here, and what its text counts on. Nothing where the name means none.
fn counted_on(
    name: &str,
    snapshot: &Arc<Snapshot>,
    surroundings: &Surroundings,
) -> (Vec<Unmet>, Option<Around>) {
    let nothing = (Vec::new(), None);
    let Ok(reference) = name.parse() else { return nothing };
    let (Lookup::Found(id, entry) | Lookup::Unusable(id, entry)) = snapshot.find(&reference) else {
        return nothing;
    };
    let Ok(file) = snapshot.read(entry) else { return nothing };
    let around = Around::of(snapshot, entry, &file, surroundings);
    (unmet(snapshot, id, surroundings), Some(around))
}

fn write(explanation: &Explanation, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    output.line(output.tinted(Tone::Strong, &explanation.answer))?;
    for skill in &explanation.skills {
        output.line("")?;
        facts(skill, surroundings, output)?;
        for diagnostic in &skill.diagnostics {
            output.line("")?;
            surroundings.show(diagnostic, output)?;
        }
    }
    for failure in &explanation.failures {
        for diagnostic in &failure.diagnostics {
            output.line("")?;
            surroundings.show(diagnostic, output)?;
        }
    }
    if !explanation.searched.is_empty() {
        output.section("looked in")?;
        for root in &explanation.searched {
            let absent = if root.exists { "" } else { " (not there)" };
            output.line(format!(
                "  {:<20} {}{absent}",
                root.origin.to_string(),
                surroundings.shown(&root.path)
            ))?;
        }
    }
    if !explanation.advice.is_empty() {
        output.section("what to do")?;
        for advice in &explanation.advice {
            output.line(format!("  - {advice}"))?;
        }
    }
    Ok(())
}

fn facts(skill: &ExplainedSkill, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let name = output.tinted(Tone::Strong, &format!("{}:{}", skill.origin, skill.name));
    output.line(format!("{name} ({})", skill.state))?;
    let mut fact =
        |label: &str, value: &str| output.line(format!("  {label:<14} {}", crate::output::clean(value)));
    fact("found at", &surroundings.shown(&skill.path))?;
    if let Some(title) = &skill.title {
        fact("title", title)?;
    }
    if let Some(version) = &skill.version {
        fact("version", version)?;
    }
    match &skill.parsed {
        Parsing::Exactly => fact("parsed", "as it is written")?,
        Parsing::Repaired(codes) => fact("parsed", &format!("after repairs: {}", codes.join(", ")))?,
    }
    for reason in &skill.reasons {
        fact(reason.kind, &reason.text)?;
    }
    if let Some(path) = &skill.shadowed_by {
        fact("shadowed by", &surroundings.shown(path))?;
    }
    let others = [
        ("shadows", &skill.shadows),
        ("other version", &skill.versions_beside),
        ("the same at", &skill.copies),
    ];
    for (label, paths) in others {
        paths.iter().try_for_each(|path| fact(label, &surroundings.shown(path)))?;
    }
    let shown = match skill.catalogue {
        InCatalogue::Described => "described",
        InCatalogue::Named => "by its name alone",
        InCatalogue::OverBudget => "its description does not fit into the budget",
        InCatalogue::Absent => "not in it",
    };
    fact("catalogue", shown)?;
    if let Some(tools) = &skill.tools {
        let list = if tools.list.is_empty() { "none".to_owned() } else { tools.list.join(", ") };
        fact("tools", &format!("{list} ({})", tools.meaning.word()))?;
    }
    if let Some(source) = &skill.source {
        fact("installed from", &serde_json::to_string(source)?)?;
    }
    for change in &skill.trust_changes {
        fact("since trusted", change)?;
    }
    Ok(())
}
