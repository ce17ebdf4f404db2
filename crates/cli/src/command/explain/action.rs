//! `explain --action` and `explain --last`: would this be allowed, and why was that refused?

use crate::args::Global;
use crate::exit::Exit;
use crate::gatekeeper::{Gatekeeper, last_refusal};
use crate::needs::Flags;
use crate::output::{Form, Output, Tone, clean};
use crate::surroundings::Surroundings;
use crate::workplace::{Active, Purpose, Ready, Workplace, who};
use anyhow::Result;
use metier_catalog::{Include, Lookup};
use metier_policy::{Action, Decision, Deed, Ruling};
use metier_runtime::{Words, script_action};
use metier_sandbox::Limits;
use serde_json::json;

/// Whether an action would be allowed, and by which rule.
pub(crate) fn action(
    text: &str,
    skills: &[String],
    global: &Global,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    let keeper = Gatekeeper::new(global, &[], surroundings)?;
    keeper.report_problems();
    let snapshot = surroundings.snapshot(Include::Usual);
    let mut named = None;
    let mut action = Action::from_words(text, &mut |name| {
        named = Some(name.to_owned());
        let reference = name.parse().ok()?;
        match snapshot.find(&reference) {
            Lookup::Found(_, entry) | Lookup::Unusable(_, entry) => Some(who(&snapshot, entry)),
            _ => None,
        }
    })?;
    if let (Deed::Script { file, .. }, Some(name)) = (&action.deed, &named) {
        // Words alone do not say how it would be started, nor what is wanted for it.
        if let Some(whole) = as_it_would_run(name, file, &keeper, surroundings) {
            action = whole;
        }
    }
    let mut scopes = Vec::new();
    for skill in skills {
        let ready = Ready::begin(Purpose::Looking, surroundings);
        scopes.extend(Workplace::of(skill, Active::Yes, ready, &Flags::default(), surroundings)?.scopes);
    }
    let decision = keeper.gate(&scopes).decide(&action);
    match output.form() {
        Form::Json => output.json(&json!({
            "action": action.sentence(),
            "ruling": decision.ruling.word(),
            "by": decision.by.to_string(),
            "also": decision.also.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "allow_with": rules(&decision),
            "mode": keeper.rules().mode().word(),
        }))?,
        Form::Text => write(&action.sentence(), &decision, output)?,
    }
    Ok(Exit::Fine)
}

/// A script of a skill as `exec` would ask about it; nothing where there is no such script or it could not be started.
fn as_it_would_run(
    name: &str,
    file: &str,
    keeper: &Gatekeeper,
    surroundings: &Surroundings,
) -> Option<Action> {
    let ready = Ready::begin(Purpose::Looking, surroundings);
    let place = Workplace::of(name, Active::No, ready, &Flags::default(), surroundings).ok()?;
    let words = Words::Split(Vec::new());
    place.with(keeper, Limits::default(), |bench, using| script_action(bench, using, file, &words)).ok()
}

fn rules(decision: &Decision) -> Vec<String> {
    decision.allow_with.iter().map(ToString::to_string).collect()
}

fn write(sentence: &str, decision: &Decision, output: &mut Output) -> Result<()> {
    let tone = match decision.ruling {
        Ruling::Allow => Tone::Good,
        Ruling::Ask => Tone::Caution,
        Ruling::Refuse => Tone::Bad,
    };
    let word = match decision.ruling {
        Ruling::Allow => "allowed",
        Ruling::Ask => "needs a yes",
        Ruling::Refuse if decision.question.is_some() => {
            "refused: it needs a yes, and nobody can be asked here"
        }
        Ruling::Refuse => "refused",
    };
    output.line(sentence)?;
    let word = output.tinted(tone, word);
    output.line(word)?;
    output.line(format!("  because {}", decision.by))?;
    for reason in &decision.also {
        output.line(format!("  and {reason}"))?;
    }
    paste(&rules(decision), output)
}

/// The rule to paste, where one would help.
fn paste(rules: &[String], output: &mut Output) -> Result<()> {
    if rules.is_empty() {
        return Ok(());
    }
    output.section("to allow it, in your config.toml:")?;
    let rules: Vec<String> =
        rules.iter().map(|rule| serde_json::to_string(rule).unwrap_or_default()).collect();
    output.line("  [gate]")?;
    output.line(format!("  allow = [{}]", rules.join(", ")))?;
    Ok(())
}

/// Why the last call was refused.
pub(crate) fn last(surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let last = last_refusal(&surroundings.places.data)?;
    match (output.form(), &last) {
        (Form::Json, last) => output.json(last)?,
        (Form::Text, None) => output.line("nothing has been refused yet")?,
        (Form::Text, Some(last)) => {
            output.line(clean(&last.action))?;
            output.line(format!("  {}", clean(&last.decision)))?;
            output.comment(format!("  at {}", clean(&last.when)))?;
            paste(&last.allow_with, output)?;
        }
    }
    Ok(Exit::Fine)
}
