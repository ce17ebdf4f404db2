//! `explain --action` and `explain --last`: would this be allowed, and why was that refused?

use crate::agency;
use crate::gatekeeper::last_refusal;
use crate::output::{Output, Tone, clean};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::Lookup;
use metier_exec::policy_skill;
use metier_policy::{Action, Decision, Deed, Ruling};
use serde_json::json;

/// Whether an action would be allowed, and by which rule.
pub(crate) fn action(
    text: &str,
    skills_active: &[String],
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<()> {
    let skills = agency::one_call(surroundings)?.open();
    let snapshot = skills.snapshot();
    let mut session = agency::session(&skills);
    let mut named = None;
    let mut action = Action::from_words(text, &mut |name| {
        named = Some(name.to_owned());
        let reference = name.parse().ok()?;
        match snapshot.find(&reference) {
            Lookup::Found(_, entry) | Lookup::Unusable(_, entry) => Some(policy_skill(&snapshot, entry)),
            _ => None,
        }
    })?;
    if let (Deed::Script { file, .. }, Some(name)) = (&action.deed, &named) {
        // Words alone do not say how it would be started, nor what is wanted for it. They are all there is where there is no such
        // script, or it could not be started.
        if let Ok(whole) = session.script_action(name, file) {
            action = whole;
        }
    }
    for skill in skills_active {
        session.open_scope(skill).map_err(|error| agency::not_used(&error))?;
    }
    let decision = session.judge(&action);
    if output.is_json() {
        return output.json(&json!({
            "action": action.sentence(),
            "ruling": decision.ruling.word(),
            "by": decision.by.to_string(),
            "also": decision.also.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "allow_with": rules(&decision),
            "mode": session.mode().word(),
        }));
    }
    write(&action.sentence(), &decision, output)
}

fn rules(decision: &Decision) -> Vec<String> {
    decision.allow_with.iter().map(ToString::to_string).collect()
}

fn write(sentence: &str, decision: &Decision, output: &mut Output) -> Result<()> {
    let (tone, word) = match decision.ruling {
        Ruling::Allow => (Tone::Good, "allowed"),
        Ruling::Ask => (Tone::Caution, "needs a yes"),
        Ruling::Refuse if decision.question.is_some() => {
            (Tone::Bad, "refused: it needs a yes, and nobody can be asked here")
        }
        Ruling::Refuse => (Tone::Bad, "refused"),
    };
    output.line(sentence)?;
    output.line(output.tinted(tone, word))?;
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
    output.line(format!("  allow = [{}]", rules.join(", ")))
}

/// Why the last call was refused.
pub(crate) fn last(surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let last = last_refusal(&surroundings.places.data)?;
    if output.is_json() {
        return output.json(&last);
    }
    let Some(last) = last else { return output.line("nothing has been refused yet") };
    output.line(clean(&last.action))?;
    output.line(format!("  {}", clean(&last.decision)))?;
    output.comment(format!("  at {}", clean(&last.when)))?;
    paste(&last.allow_with, output)
}
