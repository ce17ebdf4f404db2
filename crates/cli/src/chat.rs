//! A conversation of several messages: what was typed, what it means, what is done about it.
//!
//! `prompt` is where the user types, `entry` what a line means, `built_in` the commands that metier answers itself, `completion` what
//! could follow on what was typed, `past_lines` what was typed before, `stopping` what Ctrl-C does.

mod built_in;
mod completion;
mod entry;
mod past_lines;
mod prompt;
mod stopping;
mod telling;

use crate::args::Global;
use crate::outfit::Outfit;
use crate::output::Output;
use crate::run_view::RunView;
use crate::surroundings::Surroundings;
use anyhow::{Result, bail};
use metier_agent::{Answer, Halt, Invocation, Talk};
use metier_catalog::{Lookup, Reference, State};
use metier_store::SessionId;
use std::sync::Arc;

pub(crate) use self::built_in::{BUILT_IN, BuiltIn};
pub(crate) use self::completion::{Completion, Signs};
pub(crate) use self::entry::{Entry, Names};
pub(crate) use self::past_lines::PastLines;
pub(crate) use self::prompt::{Prompt, SIGN, Typed};
pub(crate) use self::stopping::{Between, Stopping};

/// A conversation, and the agent that leads it.
pub(crate) struct Chat<'a> {
    surroundings: &'a Surroundings,
    outfit: Outfit,
    view: Arc<RunView>,
    stopping: Stopping,
    /// None until something was said: a chat in which nothing is said leaves nothing behind.
    talk: Option<Talk>,
}

impl<'a> Chat<'a> {
    pub(crate) fn new(
        outfit: Outfit,
        stopping: Stopping,
        global: &Global,
        surroundings: &'a Surroundings,
        output: &Output,
    ) -> Self {
        let view = outfit.view(global, output);
        Self { surroundings, outfit, view, stopping, talk: None }
    }

    /// The agent.
    pub(crate) fn outfit(&self) -> &Outfit {
        &self.outfit
    }

    /// Which session it is, once something was said.
    pub(crate) fn session(&self) -> Option<SessionId> {
        self.talk.as_ref().map(Talk::id)
    }

    /// Says something to the agent, and works until there is an answer. Each message has a stop of its own.
    pub(crate) fn say(&mut self, text: &str, named: &[Invocation]) -> Result<Answer> {
        let halt = Halt::new()?;
        let _during = self.stopping.during(&halt);
        let answer = if let Some(talk) = &mut self.talk {
            talk.halt_with(halt);
            talk.say_with(text, named)
        } else {
            let company = self.outfit.company(&self.view, halt);
            let (agent, setting) = (&self.outfit.agent, self.outfit.setting());
            let talk = if named.is_empty() {
                Talk::begin(agent, setting, text, company)
            } else {
                Talk::begin_naming(agent, setting, text, company)
            };
            self.talk.insert(talk?).work_with(named)
        };
        self.view.close();
        // A chat may last for days; what was answered for good is kept at once.
        self.outfit.keep_answers(self.surroundings)?;
        Ok(answer?)
    }

    /// Goes on with another conversation.
    pub(crate) fn take_up(&mut self, id: SessionId) -> Result<()> {
        let company = self.outfit.company(&self.view, Halt::new()?);
        self.talk = Some(Talk::take_up(&self.outfit.agent, self.outfit.setting(), id, company)?);
        Ok(())
    }

    /// Asks another model from the next message on.
    pub(crate) fn change_model(&mut self, name: &str) -> Result<()> {
        self.outfit.change_model(name, self.surroundings)?;
        match self.session() {
            Some(id) => self.take_up(id),
            None => Ok(()),
        }
    }

    /// Why a skill that the user names cannot be started, where that is known beforehand.
    pub(crate) fn closed(&self, name: &str) -> Option<String> {
        let reference: Reference = name.parse().ok()?;
        let snapshot = self.outfit.skills.snapshot();
        match snapshot.find(&reference) {
            Lookup::Found(_, entry) if !entry.is_user_invocable() => Some(format!(
                "the skill `{name}` has no `/{name}`, since it says `user-invocable: false`; `metier use {name}` shows it"
            )),
            Lookup::Found(..) => None,
            other => Some(snapshot.in_words(&other)),
        }
    }

    /// Everything that can be completed: commands first, then the skills that the user may start.
    pub(crate) fn completions(&self) -> Vec<Completion> {
        let commands = BUILT_IN.iter().map(|word| Completion {
            name: word.name.to_owned(),
            hint: word.hint.to_owned(),
            signs: Signs::Slash,
        });
        let snapshot = self.outfit.skills.snapshot();
        let skills =
            snapshot.entries().filter(|(_, entry)| is_startable(entry)).map(|(_, entry)| Completion {
                name: entry.name().to_string(),
                hint: crate::output::clean(entry.argument_hint().unwrap_or_default()),
                signs: Signs::Both,
            });
        let mut all: Vec<Completion> = commands.collect();
        let mut skills: Vec<Completion> = skills.collect();
        skills.sort_by(|one, other| one.name.cmp(&other.name));
        skills.dedup_by(|one, other| one.name == other.name);
        all.extend(skills);
        all
    }

    /// The session that somebody means.
    pub(crate) fn find(&self, typed: &str) -> Result<SessionId> {
        let id = self.outfit.agent.store().find(typed)?;
        if Some(id) == self.session() {
            bail!("session {} is the one you are in", id.short());
        }
        Ok(id)
    }
}

/// Whether the user may start a skill by its name.
fn is_startable(entry: &metier_catalog::Entry) -> bool {
    let is_ready = matches!(entry.state(), State::Ready | State::NameOnly | State::UserOnly);
    is_ready && entry.is_user_invocable()
}

impl Names for Chat<'_> {
    fn is_skill(&self, name: &str) -> bool {
        let snapshot = self.outfit.skills.snapshot();
        let reference = name.parse::<Reference>().ok();
        reference.is_some_and(|reference| {
            matches!(snapshot.find(&reference), Lookup::Found(..) | Lookup::Unusable(..))
        })
    }

    fn is_usable(&self, name: &str) -> bool {
        let snapshot = self.outfit.skills.snapshot();
        let reference = name.parse::<Reference>().ok();
        reference.is_some_and(|reference| match snapshot.find(&reference) {
            Lookup::Found(_, entry) => is_startable(entry),
            _ => false,
        })
    }
}
