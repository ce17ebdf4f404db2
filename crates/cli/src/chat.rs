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
use crate::resuming::{left_undone, words_to_give};
use crate::run_view::RunView;
use anyhow::{Result, bail};
use metier_agent::{Answer, CancelToken, Resumed, Session, UserMessage};
use metier_catalog::{Entry, EntryId, Lookup, Reference, Snapshot, State};
use metier_definition::{BuiltinCommand, SlashCommand, SlashCommands, SlashInput};
use metier_diagnostic::grouped;
use metier_store::{Outcome, SessionId};
use std::sync::Arc;

pub(crate) use self::completion::Completion;
pub(crate) use self::past_lines::PastLines;
pub(crate) use self::prompt::{Prompt, SIGN, Typed};
pub(crate) use self::stopping::Stopping;

/// A conversation, and the agent that leads it.
pub(crate) struct Chat {
    /// The agent.
    pub(crate) outfit: Outfit,
    /// The agent that somebody wrote down, where it is one of those.
    agent: Option<AgentChoice>,
    view: Arc<RunView>,
    stopping: Stopping,
    /// None until something was said: a chat in which nothing is said leaves nothing behind.
    current: Option<Session>,
    /// Of a conversation that was taken up and broke off, how many steps may have happened; until it goes on.
    pub(crate) broken_off: Option<usize>,
}

impl Chat {
    pub(crate) fn new(
        outfit: Outfit,
        agent: Option<AgentChoice>,
        view: Arc<RunView>,
        stopping: Stopping,
    ) -> Self {
        Self { outfit, agent, view, stopping, current: None, broken_off: None }
    }

    /// Whether a skill is among those that the agent sees: all of them where it has no list of its own.
    fn sees(&self, snapshot: &Snapshot, skill: EntryId) -> bool {
        self.outfit.own.as_ref().is_none_or(|own| lists(snapshot, own, skill))
    }

    /// Which session it is, once something was said.
    pub(crate) fn session(&self) -> Option<SessionId> {
        self.current.as_ref().map(Session::id)
    }

    /// Sends a message to the agent, and works until there is an answer.
    pub(crate) fn send(&mut self, message: UserMessage) -> Result<Answer> {
        if self.current.is_some() {
            return Ok(self.work(|session| session.send(message))??);
        }
        let cancel = CancelToken::new()?;
        let _during = self.stopping.during(&cancel);
        let hooks = self.outfit.hooks(&self.view, cancel);
        let session = Session::start(&self.outfit.agent, self.outfit.setting(), message, hooks)?;
        let answer = self.current.insert(session).run();
        self.view.close();
        Ok(answer?)
    }

    /// Lets the conversation work. Each piece of work has a cancel token of its own.
    fn work<T>(&mut self, work: impl FnOnce(&mut Session) -> T) -> Result<T> {
        let Some(session) = &mut self.current else { bail!("there is nothing to go on with") };
        let cancel = CancelToken::new()?;
        let _during = self.stopping.during(&cancel);
        session.cancel_with(cancel);
        let done = work(session);
        self.view.close();
        Ok(done)
    }

    /// Takes up a conversation. Says what of it was left undone, a line each.
    pub(crate) fn take_up(&mut self, id: SessionId) -> Result<Vec<String>> {
        let resumed = self.resumed(id)?;
        let mut lines = left_undone(&resumed);
        let goes_on = resumed.has_work && resumed.ended.is_none_or(goes_on_at_once);
        if goes_on {
            lines.push("it broke off, and goes on now".to_owned());
            self.broken_off = Some(resumed.uncertain.len());
        } else if resumed.has_work {
            let how = resumed.ended.map_or("broke off", |ended| match ended {
                Outcome::Cancelled => "was stopped",
                _ => "failed",
            });
            let id = id.short();
            lines.push(format!("it {how}; say how to go on, or leave and let `metier resume {id}` do it"));
        }
        self.current = Some(resumed.session);
        Ok(lines)
    }

    fn resumed(&mut self, id: SessionId) -> Result<Resumed> {
        // Whoever has a conversation holds it: the one before goes first, it may be the same.
        self.current = None;
        self.broken_off = None;
        self.view.recall(&self.outfit.agent.store, id)?;
        let hooks = self.outfit.hooks(&self.view, CancelToken::new()?);
        Ok(Session::resume(&self.outfit.agent, self.outfit.setting(), id, hooks)?)
    }

    /// Goes on with what broke off, as far as it gets; and how to give a word that nobody was there to give.
    pub(crate) fn go_on(&mut self) -> Result<(Answer, Option<String>)> {
        let begun = self.broken_off.take().unwrap_or_default();
        let (answer, id) = self.work(|session| (session.run(), session.id().short()))?;
        let answer = answer?;
        let words = words_to_give(&answer, begun, &id);
        Ok((answer, words))
    }

    /// Makes the conversation shorter.
    pub(crate) fn compact(&mut self) -> Result<String> {
        if self.current.is_none() {
            return Ok("nothing was said yet, so there is nothing to make shorter".to_owned());
        }
        Ok(match self.work(Session::compact)?? {
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
        self.outfit.change_model(name)?;
        if let Some(id) = self.session() {
            // The same conversation with another model; nothing goes on before something is said.
            self.current = Some(self.resumed(id)?.session);
        }
        Ok(())
    }

    /// What a line means. Built-in commands come before skills of the same name, which `/origin:name` still reaches.
    pub(crate) fn read(&self, line: &str) -> SlashInput {
        let is_skill = |name: &str| self.means_skill(name, |_| true);
        entry::read(line, SlashCommands { commands: self.commands(), is_skill: &is_skill })
    }

    /// A text as a message for the model, with the skills that the user names in it.
    pub(crate) fn message(&self, text: String) -> UserMessage {
        let skills = entry::mentioned(&text, |name| self.means_skill(name, is_usable));
        if skills.is_empty() { UserMessage::Text(text) } else { UserMessage::Mentions { text, skills } }
    }

    /// Whether a name means a skill that the agent sees, and that is like this.
    fn means_skill(&self, name: &str, is_like: fn(&Lookup<'_>) -> bool) -> bool {
        let snapshot = self.outfit.skills.snapshot();
        let Ok(reference) = name.parse::<Reference>() else { return false };
        let found = snapshot.find(&reference);
        let is_seen =
            matches!(found, Lookup::Found(id, _) | Lookup::Unusable(id, _) if self.sees(&snapshot, id));
        is_seen && is_like(&found)
    }

    /// The commands of the agent that is spoken to.
    fn commands(&self) -> &[SlashCommand] {
        self.agent.as_ref().map_or(&[], |agent| &agent.read.definition.commands)
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
        let built_in =
            BuiltinCommand::all().map(|built_in| (built_in.name().to_owned(), telling::hint(built_in)));
        let own = self.commands().iter().map(|command| (command.name.value.clone(), "[ARGUMENTS]"));
        let commands = built_in.chain(own).map(|(name, hint)| Completion {
            name,
            hint: hint.to_owned(),
            is_skill: false,
        });
        let snapshot = self.outfit.skills.snapshot();
        let skills =
            snapshot.entries().filter(|(_, entry)| is_startable(entry)).map(|(_, entry)| Completion {
                name: entry.name().to_string(),
                hint: clean(entry.argument_hint().unwrap_or_default()),
                is_skill: true,
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
        let id = self.outfit.agent.store.find(typed)?;
        if Some(id) == self.session() {
            bail!("session {} is the one you are in", id.short());
        }
        let summary = self.outfit.agent.store.session(id)?;
        // Its commands and paths are meant for the folder it began in.
        if summary.project != self.outfit.surroundings.recorded_project(false) {
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

/// Whether `$NAME` in a message activates what the name means. `/NAME` means a skill also where it cannot be used right now.
fn is_usable(found: &Lookup<'_>) -> bool {
    matches!(found, Lookup::Found(_, entry) if is_startable(entry))
}

/// Whether one of these references means this very skill, and not another one of the same name.
fn lists(snapshot: &Snapshot, references: &[String], skill: EntryId) -> bool {
    references.iter().filter_map(|written| written.parse::<Reference>().ok()).any(|reference| {
        let found = snapshot.find(&reference);
        matches!(found, Lookup::Found(id, _) | Lookup::Unusable(id, _) if id == skill)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_catalog::{Include, Layout, Places, RootChoice};
    use metier_testkit::Workspace;

    #[test]
    fn a_reference_lists_the_skill_that_it_means_and_no_namesake() {
        let workspace = Workspace::new()
            .dir("project/.git")
            .skill("project/.claude/skills/deploy", "Deploys the project.")
            .skill("home/.claude/skills/deploy", "Deploys anything.");
        let places = Places { home: Some(workspace.join("home")), ..Places::bare(workspace.join("project")) };
        let snapshot = Snapshot::load(Arc::new(Layout::new(&places, &RootChoice::Usual)), Include::Usual);
        let id = |written: &str| match snapshot.find(&written.parse().unwrap()) {
            Lookup::Found(id, _) | Lookup::Unusable(id, _) => id,
            other => panic!("{written}: {other:?}"),
        };
        let check = |listed: &str, called: &str, expect: bool| {
            assert_eq!(lists(&snapshot, &[listed.to_owned()], id(called)), expect, "{listed} {called}");
        };
        check("project:deploy", "project:deploy", true);
        check("project:deploy", "user:deploy", false);
        check("user:deploy", "project:deploy", false);
        check("deploy", "user:deploy", true);
        check("other", "user:deploy", false);
        check("deploy@99", "user:deploy", false);
    }
}
