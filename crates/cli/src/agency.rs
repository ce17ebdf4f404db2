//! The agent of the command line: skills, rules and secrets of this user, behind the library's own API.

use crate::args::Global;
use crate::command::secret;
use crate::environment;
use crate::gatekeeper::{self, Span};
use crate::question;
use crate::screen;
use crate::surroundings::Surroundings;
use crate::workplace::setup;
use anyhow::Result;
use metier_agent::definition::{Manner, Role};
use metier_agent::{Ask, Reply};
use metier_catalog::{Include, Lookup, Reference};
use metier_policy::{Answer, Mode};
use metier_runtime::{Skills, SkillsBuilder};
use metier_secret::Secret;
use std::sync::Arc;

/// Whether somebody can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Somebody sits at the terminal.
    Here,
    /// Nobody does, or does not want to be asked.
    Nobody,
}

impl Presence {
    /// Who is there, unless nobody wants to be asked.
    pub(crate) fn of(no_input: bool) -> Self {
        let is_here =
            !no_input && rustix::termios::isatty(rustix::stdio::stdin()) && screen::err_is_terminal();
        if is_here { Self::Here } else { Self::Nobody }
    }
}

/// The user's skills with everything it takes to use them, before they are opened. Nobody is asked.
pub(crate) fn builder(global: &Global, surroundings: &Surroundings) -> Result<SkillsBuilder> {
    let mut builder = Skills::builder()
        .places(surroundings.places.clone())
        .search_path(environment::search_path())
        .language(&environment::language())
        .setup(setup(&surroundings.places.temp))
        .kept(gatekeeper::kept(surroundings)?)
        .vault(vault(surroundings));
    for root in &global.root {
        builder = builder.root(root);
    }
    for rule in &global.allow {
        builder = builder.allow(rule);
    }
    for rule in &global.deny {
        builder = builder.deny(rule);
    }
    if let Some(mode) = &global.mode {
        builder = builder.mode(mode.parse::<Mode>()?);
    }
    Ok(builder)
}

/// The user's skills with everything it takes to use them. `window` is what the model can hold in mind, `role` what the agent's
/// file says of it.
pub(crate) fn skills(
    global: &Global,
    surroundings: &Surroundings,
    presence: Presence,
    window: Option<usize>,
    role: Option<&Role>,
) -> Result<Skills> {
    let mut builder = builder(global, surroundings)?;
    if let Some(window) = window {
        builder = builder.window(window);
    }
    if let Some(Manner::Listed(disclosure)) = role.and_then(|role| role.manner) {
        builder = builder.disclosure(disclosure);
    }
    // A file can ask for more questions than the user does, never for fewer.
    let mut modes =
        surroundings.layout.settings.gate.iter().filter_map(|layer| layer.config.mode.as_ref()?.parse().ok());
    let usual = modes.next_back().unwrap_or_default();
    if let Some(mode) =
        role.and_then(|role| role.mode).filter(|mode| global.mode.is_none() && mode.narrows(usual))
    {
        builder = builder.mode(mode);
    }
    if presence == Presence::Here {
        builder = builder.ask(|action, decision| {
            gatekeeper::prompt(action, decision, Span::Session).unwrap_or_else(|error| {
                crate::output::complain(&error);
                Answer::No
            })
        });
    }
    Ok(builder.open())
}

/// The secrets of each skill, from where this user keeps them, else the user's environment.
fn vault(
    surroundings: &Surroundings,
) -> impl Fn(&metier_policy::Skill, &metier_secret::SecretName) -> Option<Secret> + Send + Sync + 'static {
    let surroundings = surroundings.clone();
    move |skill, name| {
        let own = || -> Option<Secret> {
            let reference: Reference = format!("{}:{}", skill.origin, skill.name).parse().ok()?;
            let snapshot = surroundings.snapshot(Include::Usual);
            let (Lookup::Found(_, entry) | Lookup::Unusable(_, entry)) = snapshot.find(&reference) else {
                return None;
            };
            let owner = secret::owner(&snapshot, entry);
            let known = secret::vault(&surroundings).of(&owner).ok()?;
            known.into_iter().find(|(known, _)| known == name).map(|(_, secret)| secret)
        };
        own().or_else(|| environment::variable(name.as_str()).and_then(|value| Secret::new(value).ok()))
    }
}

/// Puts the model's questions to whoever sits at the terminal.
pub(crate) struct AtTheTerminal;

impl Ask for AtTheTerminal {
    fn ask(&self, question: &str, options: &[String]) -> Reply {
        let options_shown = (1..).zip(options).map(|(number, option)| format!("  {number}. {option}"));
        let lines: Vec<String> = std::iter::once(question.to_owned()).chain(options_shown).collect();
        let Ok(line) = question::ask_text(&lines) else { return Reply::Nobody };
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

/// Somebody for the model's questions, where anybody is there.
pub(crate) fn company(presence: Presence) -> Option<Arc<dyn Ask + Send>> {
    (presence == Presence::Here).then(|| Arc::new(AtTheTerminal) as Arc<dyn Ask + Send>)
}
