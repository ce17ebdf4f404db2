//! The agent of the command line: skills, rules and secrets of this user, behind the library's own API.

use crate::approval_store::ApprovalStore;
use crate::environment;
use crate::gatekeeper::{self, Span};
use crate::keyboard;
use crate::output::clean;
use crate::question;
use crate::sandbox_setup::setup;
use crate::screen;
use crate::surroundings::Surroundings;
use crate::user_values::UserValues;
use anyhow::{Result, anyhow};
use metier_catalog::Include;
use metier_definition::{Role, SkillDisclosure};
use metier_policy::{Answer, Layer, List, Owner, Source};
use metier_runtime::{ApprovalRequest, SkillSession, Skills, SkillsBuilder, Surface, UseError};
use metier_tools::{Ask, Reply};
use std::sync::Arc;

/// The user's skills with everything that looking at them takes, before they are opened. Rules of the command line are not among
/// it, and nobody is asked.
pub(crate) fn base(surroundings: &Surroundings) -> SkillsBuilder {
    Skills::builder()
        .layout(Arc::clone(&surroundings.layout))
        .search_path(environment::search_path())
        .language(&environment::language())
        .setup(setup(&surroundings.places.temp))
        .values(Arc::new(UserValues(surroundings.clone())))
}

/// The user's skills with everything it takes to use them: what every command that runs something begins with. Nobody is asked.
pub(crate) fn builder(surroundings: &Surroundings) -> Result<SkillsBuilder> {
    let mut flags = Layer::new(Source::new(Owner::Flag, "the command line"))
        .list(List::Deny, &surroundings.global.deny)
        .list(List::Allow, &surroundings.global.allow);
    if let Some(mode) = &surroundings.global.mode {
        flags = flags.mode(mode);
    }
    let (around, data) = (surroundings.clone(), surroundings.places.data.clone());
    Ok(base(surroundings)
        .rules(flags)
        .show_paths(move |file| around.shown(file))
        .kept(ApprovalStore::of(surroundings).kept()?)
        .on_refusal(move |action, decision| gatekeeper::remember(&data, action, decision)))
}

/// The same for a command that makes one call: the skills are read once, and whoever sits at the terminal is asked.
pub(crate) fn one_call(surroundings: &Surroundings) -> Result<SkillsBuilder> {
    let builder = builder(surroundings)?.snapshot(Arc::new(surroundings.snapshot(Include::Usual)));
    if !keyboard::can_ask() {
        return Ok(builder);
    }
    let approvals = ApprovalStore::of(surroundings);
    Ok(builder.ask(move |request: &ApprovalRequest<'_>| match ask(request, Span::Call, &approvals) {
        // One call is the whole session here, so "once" has to last until it is made.
        Answer::Once => Answer::SessionExact,
        answer => answer,
    }))
}

/// The session of one call. What in the rules could not be taken as it is written is said on standard error.
pub(crate) fn session(skills: &Skills) -> SkillSession {
    named(skills.session_for_program())
}

/// The same for a call as a model makes it.
pub(crate) fn session_on(skills: &Skills, surface: Surface) -> SkillSession {
    named(skills.session_on(surface))
}

fn named(session: SkillSession) -> SkillSession {
    for problem in session.rule_problems() {
        screen::err_line(screen::harmless(&problem.to_string()));
    }
    session.named(&format!("{}-{}", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S"), std::process::id()))
}

/// Why a skill was not used, with where to learn more.
pub(crate) fn not_used(error: &UseError) -> anyhow::Error {
    let text = clean(&error.to_string());
    match error {
        UseError::Unknown { name, .. } => anyhow!("{text}; `metier explain {name}` says more"),
        UseError::Off { name, .. } => anyhow!("{text}; `metier explain {name}` says how to change that"),
        _ => anyhow!(text),
    }
}

/// Puts a question to whoever sits at the terminal. What cannot be asked is a no.
fn ask(request: &ApprovalRequest<'_>, span: Span, approvals: &ApprovalStore) -> Answer {
    gatekeeper::prompt(request, span, approvals).unwrap_or_else(|error| {
        crate::output::complain(&error);
        Answer::No
    })
}

/// The user's skills with everything it takes to use them. `window` is what the model can hold in mind, `role` what the agent's
/// file says of it.
pub(crate) fn skills(
    surroundings: &Surroundings,
    can_ask: bool,
    window: Option<usize>,
    role: Option<&Role>,
) -> Result<Skills> {
    let mut builder = builder(surroundings)?;
    if let Some(window) = window {
        builder = builder.window(window);
    }
    if let Some(SkillDisclosure::Listed(disclosure)) = role.and_then(|role| role.disclosure) {
        builder = builder.disclosure(disclosure);
    }
    // A file can ask for more questions than the user does, never for fewer.
    let mut modes =
        surroundings.layout.settings.gate.iter().filter_map(|layer| layer.config.mode.as_ref()?.parse().ok());
    let usual = modes.next_back().unwrap_or_default();
    if let Some(mode) = role
        .and_then(|role| role.mode)
        .filter(|mode| surroundings.global.mode.is_none() && mode.narrows(usual))
    {
        builder = builder.mode(mode);
    }
    if can_ask {
        let approvals = ApprovalStore::of(surroundings);
        builder = builder.ask(move |request: &ApprovalRequest<'_>| ask(request, Span::Session, &approvals));
    }
    Ok(builder.open())
}

/// Puts the model's questions to whoever sits at the terminal.
pub(crate) struct AtTheTerminal;

impl Ask for AtTheTerminal {
    fn ask(&self, question: &str, options: &[String]) -> Reply {
        let options_shown = (1..).zip(options).map(|(number, option)| format!("  {number}. {option}"));
        let lines: Vec<String> = std::iter::once(question.to_owned()).chain(options_shown).collect();
        let Ok(line) = question::ask_text(&lines) else { return Reply::Unanswered };
        let line = line.unwrap_or_default();
        let said = line.trim();
        let chosen = said.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
        match (said, chosen) {
            ("", _) => Reply::Declined,
            (_, Some(option)) => Reply::Said(option.clone()),
            (said, None) => Reply::Said(said.to_owned()),
        }
    }
}
