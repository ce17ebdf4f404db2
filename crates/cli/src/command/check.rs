//! `check`: what is wrong with skills and agents, for whom, and what mends it.

mod agent_file;
mod changed;
mod declared_names;
mod judged;
mod levels;
mod mending;
mod portability;
mod report;
mod subject;
mod target;
mod workers;

use crate::args::{Check, CheckFormat};
use crate::exit::Exit;
use crate::output::Output;
use crate::surroundings::Surroundings;
use anyhow::{Result, bail};
use changed::Changed;
use declared_names::DeclaredNames;
use judged::{Asked, Judged, Outcome};
use levels::Judgement;
use metier_diagnostic::{Diagnostic, Severity};
use metier_lint::{Root, rules};
use metier_skill::profile::Profile;
use std::collections::HashSet;
use std::path::Path;
use target::Targets;
use workers::in_parallel;

pub(crate) fn run(args: &Check, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let format = if output.is_json() { CheckFormat::Json } else { args.format };
    let asked = asked(args, surroundings)?;
    let judgement = Judgement::new(&surroundings.layout.settings, &surroundings.places.current);
    for complaint in &judgement.complaints {
        output.aside(complaint)?;
    }
    let outcome = judge(args, &asked, &judgement, surroundings)?;
    if args.fix {
        outcome.mendings().try_for_each(mending::Mending::write)?;
    }
    report::write(args, format, &outcome, surroundings, output)?;
    let fails = |found: &&Diagnostic| match found.severity() {
        Severity::Error => true,
        Severity::Warning => args.strict,
        Severity::Info => false,
    };
    Ok(if outcome.findings().any(|found| fails(&found)) { Exit::Failed } else { Exit::Fine })
}

/// What was asked for. A profile takes the place of metier's own opinion unless that is asked for by name, too: whoever
/// wants to know whether the standard's validator passes a skill does not ask for anybody's taste.
fn asked(args: &Check, surroundings: &Surroundings) -> Result<Asked> {
    let mut profiles = Vec::new();
    for name in &args.profiles {
        match Profile::from_name(name.trim()) {
            Some(profile) if profiles.contains(&profile) => {}
            Some(profile) => profiles.push(profile),
            None => {
                let known: Vec<_> = Profile::ALL.iter().map(|profile| profile.name()).collect();
                bail!("there is no profile `{name}`; there are {}", known.join(", "));
            }
        }
    }
    let rules = profiles.is_empty() || profiles.contains(&Profile::Metier);
    let declared = DeclaredNames::new(&surroundings.layout.settings);
    Ok(Asked { profiles, rules, mends: args.fix || args.diff, writes: args.fix, declared })
}

fn judge(args: &Check, asked: &Asked, judgement: &Judgement, surroundings: &Surroundings) -> Result<Outcome> {
    let mut targets = Targets::find(&args.paths, surroundings)?;
    let lone = std::mem::take(&mut targets.lone);
    let changed =
        args.changed.as_ref().map(|revision| Changed::since(revision, &surroundings.places.current));
    let changed = changed.transpose()?;
    let places = targets.places();
    let of_place = |place: &target::Place<'_>| {
        let is_meant = changed.as_ref().is_none_or(|changed| changed.is_below(&place.folder()));
        match place.read(surroundings) {
            Ok(subject) => Judged::new(subject, asked, judgement, is_meant),
            Err(found) => Judged::unreadable(found, is_meant),
        }
    };
    let mut skills = in_parallel(&places, of_place);
    skills.extend(lone.into_iter().map(|subject| Judged::new(subject, asked, judgement, true)));
    // Whoever asks for another client's opinion of a skill does not ask about agents.
    let agents = if asked.rules { targets.agents.as_slice() } else { &[] };
    let agents = agent_file::judged(agents, judgement, surroundings);
    let allowed = agents.iter().map(|agent| agent.allowed).sum();
    let mut outcome = Outcome { skills, together: Vec::new(), agents, allowed };
    if asked.rules {
        let (together, allowed) = together(&outcome.skills, judgement, surroundings);
        outcome.together = together;
        outcome.allowed += allowed;
        let problems = targets.problems().iter().map(|found| surroundings.relative(found));
        outcome.together.extend(problems);
    }
    outcome.allowed += outcome.skills.iter().map(|skill| skill.allowed).sum::<usize>();
    outcome.skills.retain(|skill| skill.is_meant);
    Ok(outcome)
}

/// What rules say about all skills together. They look at all of them and are heard about those that are meant.
fn together(
    skills: &[Judged],
    judgement: &Judgement,
    surroundings: &Surroundings,
) -> (Vec<Diagnostic>, usize) {
    let seen = in_parallel(skills, |skill| skill.subject.as_ref()?.skill());
    let seen: Vec<_> = seen.into_iter().flatten().collect();
    let others: HashSet<&Path> = skills
        .iter()
        .filter(|skill| !skill.is_meant)
        .filter_map(|skill| Some(&*skill.subject.as_ref()?.shown))
        .collect();
    let is_meant = |found: &Diagnostic| found.path.as_deref().is_none_or(|path| !others.contains(path));
    let mut allowed = 0;
    let root = Root::new(&seen);
    let found = in_parallel(rules::ALL, |rule| rule.judge_root(&root));
    let found = found.into_iter().flatten().filter(is_meant);
    let found = found.filter_map(|found| {
        let path = found.path.clone().unwrap_or_else(|| Path::new("").into());
        let kept = judgement.apply(found, &surroundings.places.current.join(path));
        allowed += usize::from(kept.is_none());
        kept
    });
    (found.collect(), allowed)
}
