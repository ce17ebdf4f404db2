//! A conversation of several messages: what was typed, what it means, what is done about it.
//!
//! `prompt` is where the user types, `entry` what a line means, `telling` what metier answers itself, `completion` what
//! could follow on what was typed, `past_lines` what was typed before, `stopping` what Ctrl-C does.

mod completion;
mod entry;
mod past_lines;
mod prompt;
mod stopping;
mod telling;

use crate::agent_choice::AgentChoice;
use crate::outfit::Outfit;
use crate::output::clean;
use crate::resuming::{Resuming, Word, left_undone, words_to_give};
use crate::run_view::RunView;
use crate::surroundings::Surroundings;
use anyhow::{Result, bail};
use metier_agent::slash::{BuiltIn, Command};
use metier_agent::{Answer, Company, Halt, Left, Resumed, Talk};
use metier_catalog::{Entry, Lookup, Reference, State};
use metier_diagnostic::grouped;
use metier_store::{By, Outcome, SessionId};
use std::sync::Arc;

pub(crate) use self::completion::{Completion, Signs};
pub(crate) use self::entry::{Entry as Line, Names};
pub(crate) use self::past_lines::PastLines;
pub(crate) use self::prompt::{Prompt, SIGN, Typed};
pub(crate) use self::stopping::{Between, Stopping};

/// A conversation, and the agent that leads it.
pub(crate) struct Chat<'a> {
    surroundings: &'a Surroundings,
    outfit: Outfit,
    /// The agent that somebody wrote down, where it is one of those.
    agent: Option<AgentChoice>,
    view: Arc<RunView>,
    stopping: Stopping,
    /// None until something was said: a chat in which nothing is said leaves nothing behind.
    talk: Option<Talk>,
    /// That the conversation which was taken up broke off, until it goes on.
    broken_off: Option<BrokenOff>,
}

/// A conversation that broke off in the middle and is to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BrokenOff {
    /// How many steps of it may have happened.
    begun: usize,
}

impl<'a> Chat<'a> {
    pub(crate) fn new(
        outfit: Outfit,
        agent: Option<AgentChoice>,
        view: Arc<RunView>,
        stopping: Stopping,
        surroundings: &'a Surroundings,
    ) -> Self {
        Self { surroundings, outfit, agent, view, stopping, talk: None, broken_off: None }
    }

    /// Whether a skill is among those that the agent sees: all of them where it has no list of its own.
    fn sees(&self, entry: &Entry) -> bool {
        let is_named = |reference: &String| {
            let reference = reference.split('@').next().unwrap_or_default();
            reference.rsplit(':').next() == Some(entry.name().as_str())
        };
        self.outfit.own.as_ref().is_none_or(|own| own.iter().any(is_named))
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
    pub(crate) fn say(&mut self, text: &str, names: &[String]) -> Result<Answer> {
        let halt = Halt::new()?;
        let stopping = self.stopping.clone();
        let _during = stopping.during(&halt);
        let answer = if let Some(talk) = &mut self.talk {
            talk.halt_with(halt);
            if names.is_empty() { talk.say(text) } else { talk.say_naming(text, names) }
        } else {
            let company = self.outfit.company(&self.view, halt);
            let (agent, setting) = (&self.outfit.agent, self.outfit.setting());
            if names.is_empty() {
                self.talk.insert(Talk::begin(agent, setting, text, company)?).work()
            } else {
                self.talk.insert(Talk::begin_naming(agent, setting, text, company)?).work_naming(names)
            }
        };
        self.view.close();
        Ok(answer?)
    }

    /// Starts a skill because the user says so.
    pub(crate) fn start(&mut self, name: &str, arguments: &str) -> Result<Answer> {
        let halt = Halt::new()?;
        let stopping = self.stopping.clone();
        let _during = stopping.during(&halt);
        let answer = if let Some(talk) = &mut self.talk {
            talk.halt_with(halt);
            talk.say_skill(By::User, name, arguments)
        } else {
            let company: Company = self.outfit.company(&self.view, halt);
            let words = format!("/{name} {arguments}");
            let (agent, setting) = (&self.outfit.agent, self.outfit.setting());
            let talk = Talk::begin_naming(agent, setting, words.trim_end(), company)?;
            self.talk.insert(talk).work_with(By::User, name, arguments)
        };
        self.view.close();
        Ok(answer?)
    }

    /// Takes up a conversation. Says what of it was left undone, a line each.
    pub(crate) fn take_up(&mut self, id: SessionId) -> Result<Vec<String>> {
        let resumed = self.resumed(id)?;
        let mut lines = left_undone(&resumed);
        let goes_on = resumed.left == Left::Work && resumed.ended.is_none_or(goes_on_at_once);
        if goes_on {
            lines.push("it broke off, and goes on now".to_owned());
            self.broken_off = Some(BrokenOff { begun: resumed.begun.len() });
        } else if resumed.left == Left::Work {
            let how = resumed.ended.map_or("broke off", |ended| match ended {
                Outcome::Cancelled => "was stopped",
                _ => "failed",
            });
            let id = id.short();
            lines.push(format!("it {how}; say how to go on, or leave and let `metier resume {id}` do it"));
        }
        self.talk = Some(resumed.talk);
        Ok(lines)
    }

    fn resumed(&mut self, id: SessionId) -> Result<Resumed> {
        // Whoever has a conversation holds it: the one before goes first, it may be the same.
        self.talk = None;
        self.broken_off = None;
        self.view.recall(self.outfit.agent.store(), id)?;
        let word = Word::of(self.outfit.presence);
        let watch = Arc::new(Resuming { view: Arc::clone(&self.view), word });
        let company = Company { watch, ..self.outfit.company(&self.view, Halt::new()?) };
        Ok(Talk::resume(&self.outfit.agent, self.outfit.setting(), id, company)?)
    }

    /// Whether a conversation was taken up that broke off and has not gone on yet.
    pub(crate) fn is_broken_off(&self) -> bool {
        self.broken_off.is_some()
    }

    /// Goes on with what broke off, as far as it gets; and how to give a word that nobody was there to give.
    pub(crate) fn go_on(&mut self) -> Result<(Answer, Option<String>)> {
        let (Some(BrokenOff { begun }), Some(talk)) = (self.broken_off.take(), &mut self.talk) else {
            bail!("there is nothing to go on with");
        };
        let halt = Halt::new()?;
        let stopping = self.stopping.clone();
        let _during = stopping.during(&halt);
        talk.halt_with(halt);
        let answer = talk.work();
        let id = talk.id().short();
        self.view.close();
        let answer = answer?;
        let words = words_to_give(&answer, begun, &id);
        Ok((answer, words))
    }

    /// Makes the conversation shorter.
    pub(crate) fn compact(&mut self) -> Result<String> {
        let Some(talk) = &mut self.talk else {
            return Ok("nothing was said yet, so there is nothing to make shorter".to_owned());
        };
        let halt = Halt::new()?;
        let _during = self.stopping.during(&halt);
        talk.halt_with(halt);
        Ok(match talk.compact()? {
            None => "there is too little to make it shorter".to_owned(),
            Some(done) => {
                let (before, after) = (grouped(done.before), grouped(done.after));
                let why =
                    done.no_summary.map(|why| format!("; without a summary: {why}")).unwrap_or_default();
                format!("about {before} tokens became {after}{why}")
            }
        })
    }

    /// Asks another model from the next message on.
    pub(crate) fn change_model(&mut self, name: &str) -> Result<()> {
        self.outfit.change_model(name, self.surroundings)?;
        if let Some(id) = self.session() {
            // The same conversation with another model; nothing goes on before something is said.
            self.talk = Some(self.resumed(id)?.talk);
        }
        Ok(())
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
        let built_in = BuiltIn::all().map(|built_in| (built_in.name().to_owned(), telling::hint(built_in)));
        let own = self.commands().iter().map(|command| (command.name.value.clone(), "[ARGUMENTS]"));
        let commands = built_in.chain(own).map(|(name, hint)| Completion {
            name,
            hint: hint.to_owned(),
            signs: Signs::Slash,
        });
        let snapshot = self.outfit.skills.snapshot();
        let skills =
            snapshot.entries().filter(|(_, entry)| is_startable(entry)).map(|(_, entry)| Completion {
                name: entry.name().to_string(),
                hint: clean(entry.argument_hint().unwrap_or_default()),
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
        let summary = self.outfit.agent.store().session(id)?;
        // Its commands and paths are meant for the folder it began in.
        if summary.project != self.surroundings.recorded_project(false) {
            let project = summary
                .project
                .as_deref()
                .map_or_else(|| "outside of a project".to_owned(), |project| format!("in {project}"));
            let id = id.short();
            bail!("session {id} began {}; go there and run `metier chat --resume {id}`", clean(&project));
        }
        let leader = summary.agent;
        let own = self.agent.as_ref().map(|agent| agent.read.definition.name.value.as_str());
        if leader.as_deref() != own {
            // Its skills, tools and servers are another agent's.
            let leader =
                leader.map_or_else(|| "metier's own agent".to_owned(), |name| format!("`{}`", clean(&name)));
            let id = id.short();
            bail!(
                "session {id} is one of {leader}, who is not in this chat; `metier chat --resume {id}` goes on with it"
            );
        }
        Ok(id)
    }
}

/// Whether a run that ended so goes on as soon as it is taken up. What the user stopped waits for their word, and so does what
/// failed: the same once more is what `metier resume` is for.
fn goes_on_at_once(ended: Outcome) -> bool {
    matches!(ended, Outcome::Partial | Outcome::NeedsYes)
}

/// Whether the user may start a skill by its name.
fn is_startable(entry: &Entry) -> bool {
    let is_ready = matches!(entry.state(), State::Ready | State::NameOnly | State::UserOnly);
    is_ready && entry.is_user_invocable()
}

impl Names for Chat<'_> {
    fn commands(&self) -> &[Command] {
        self.agent.as_ref().map_or(&[], |agent| &agent.read.definition.commands)
    }

    fn is_skill(&self, name: &str) -> bool {
        let snapshot = self.outfit.skills.snapshot();
        let reference = name.parse::<Reference>().ok();
        reference.is_some_and(|reference| match snapshot.find(&reference) {
            Lookup::Found(_, entry) | Lookup::Unusable(_, entry) => self.sees(entry),
            _ => false,
        })
    }

    fn is_usable(&self, name: &str) -> bool {
        let snapshot = self.outfit.skills.snapshot();
        let reference = name.parse::<Reference>().ok();
        reference.is_some_and(|reference| match snapshot.find(&reference) {
            Lookup::Found(_, entry) => is_startable(entry) && self.sees(entry),
            _ => false,
        })
    }
}
