//! Skills that somebody names, and not the model: `/name arguments`, or `$name` in a message of the user; or a program.

use metier_diagnostic::Severity;
use metier_runtime::{Activated as Entered, NotUsed};
use metier_store as store;
use metier_store::{Activated, By, EventKind, Outcome, Used};

use super::beginning::who;
use super::{Answer, Company, Talk, TalkError};
use crate::agent::{Agent, Disclosure};
use crate::bridge::lock;
use crate::child::{ChildAnswer, ChildMode};
use crate::halt::Halt;
use crate::tools::Setting;
use crate::watch::Piece;

/// A skill that somebody named, with what stood behind its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The skill, as it was written.
    pub name: String,
    /// The argument text, byte for byte.
    pub arguments: String,
}

impl Invocation {
    /// A skill by its name.
    pub fn new(name: &str, arguments: &str) -> Self {
        Self { name: name.to_owned(), arguments: arguments.to_owned() }
    }
}

/// Where a skill went.
enum Went {
    /// Into the conversation.
    Here,
    /// Into a child, which has answered.
    Child(Box<ChildAnswer>),
    /// Into a child that works in the background.
    Background,
}

impl Talk {
    /// Begins a conversation with a message that names its skills: no others are offered for it. See [`Talk::work_with`].
    pub fn begin_naming(
        agent: &Agent,
        setting: Setting,
        request: &str,
        company: Company,
    ) -> Result<Self, TalkError> {
        Self::open(agent, setting, request, company)
    }

    /// The user says something more, and names skills in it.
    pub fn say_with(&mut self, text: &str, named: &[Invocation]) -> Result<Answer, TalkError> {
        if named.is_empty() {
            return self.say(text);
        }
        self.hear(text, By::User)?;
        self.work_with(named)
    }

    /// Somebody wants one skill: `/name arguments`. It is a message like any other. One that does not exist is an error, and nothing
    /// was said.
    pub fn say_skill(&mut self, by: By, name: &str, arguments: &str) -> Result<Answer, TalkError> {
        lock(&self.session).wants_child(name)?;
        self.hear(format!("/{name} {arguments}").trim_end(), by)?;
        self.work_for(by, &[Invocation::new(name, arguments)])
    }

    /// Works on what the user said with the skills that are named in it: see [`Talk::work`]. Each is in the conversation or in a
    /// child, as it says itself. Where one of them cannot be had nothing is asked: a request without the skill that it is about is
    /// another request.
    pub fn work_with(&mut self, named: &[Invocation]) -> Result<Answer, TalkError> {
        self.work_for(By::User, named)
    }

    /// Stops what comes next with this, and not with what stopped it before: each message of the user has its own.
    pub fn halt_with(&mut self, halt: Halt) {
        lock(&self.session).cancel_with(halt.cancel().clone());
        self.halt = halt;
    }

    fn work_for(&mut self, by: By, named: &[Invocation]) -> Result<Answer, TalkError> {
        self.recall()?;
        let is_alone = named.len() == 1;
        for invocation in named {
            match self.invoke(by, invocation)? {
                Ok(Went::Child(answer)) if is_alone => {
                    // It is the answer to the user, and nobody saw it come.
                    self.journal.watch().piece(Piece::Text(&answer.text));
                    return self.end(answer.outcome, answer.text, answer.why);
                }
                // The user has no answer yet, so it is waited for, unless more will be said.
                Ok(Went::Background) if is_alone => {
                    if self.await_children(Outcome::Done)? {
                        return self.work();
                    }
                    return self.end(Outcome::Done, String::new(), None);
                }
                // What a child brought stands in the conversation.
                Ok(_) => {}
                Err(message) => {
                    let at = format!("skill {}", invocation.name);
                    self.write(EventKind::Failed { at, message: message.clone() })?;
                    return self.end(Outcome::Failed, String::new(), Some(message));
                }
            }
        }
        self.work()
    }

    /// Takes a skill up, or says why it cannot be had.
    fn invoke(&mut self, by: By, invocation: &Invocation) -> Result<Result<Went, String>, TalkError> {
        let Invocation { name, arguments } = invocation;
        let wants_child = lock(&self.session).wants_child(name);
        let is_router = self.agent.disclosure == Disclosure::Handoff;
        match wants_child {
            Err(error) => Ok(Err(error.to_string())),
            Ok(false) if !is_router => {
                Ok(self.put_in(by, name, arguments)?.map_err(|error| error.to_string()))
            }
            Ok(_) => {
                let forked = lock(&self.session).fork(who(by), name, arguments.as_str());
                let fork = match forked {
                    Ok(fork) => fork,
                    Err(error) => return Ok(Err(error.to_string())),
                };
                let answer =
                    self.run_child(fork, if is_router { ChildMode::Handoff } else { ChildMode::Fork }, by)?;
                Ok(answer
                    .map(|answer| answer.map_or(Went::Background, |answer| Went::Child(Box::new(answer)))))
            }
        }
    }

    /// Puts a skill into the conversation.
    fn put_in(&mut self, by: By, name: &str, arguments: &str) -> Result<Result<Went, NotUsed>, TalkError> {
        let (used, active, labels) = {
            let mut session = lock(&self.session);
            let used = match session.activate_by(who(by), name, arguments) {
                Ok(used) => used,
                Err(error) => return Ok(Err(error)),
            };
            let Some((active, labels)) = session.last_active() else {
                return Ok(Err(NotUsed::Trouble(format!("the skill `{name}` is gone"))));
            };
            (used, active, labels)
        };
        let notes = match &used.activated {
            Entered::Fresh(activation) => {
                let grave = activation.diagnostics.iter().filter(|found| found.severity() > Severity::Info);
                let said = grave.map(|found| found.message.clone());
                said.chain(activation.notes.iter().cloned()).collect()
            }
            Entered::Again(_) => Vec::new(),
        };
        let entry = Used {
            skill: active.skill.name.clone(),
            origin: active.skill.origin.clone(),
            digest: active.digest.clone(),
            tags: labels.tags.clone(),
            by,
            usage: store::Usage::default(),
            cost_micros: 0,
            outcome: Outcome::Done,
        };
        self.used.push((entry, self.spent));
        self.write(EventKind::Activated(Activated {
            skill: active.skill.name,
            origin: active.skill.origin,
            version: labels.version,
            digest: active.digest,
            tree_digest: None,
            by,
            call: None,
            arguments: arguments.to_owned(),
            message: used.text,
            tags: labels.tags,
            notes,
        }))?;
        Ok(Ok(Went::Here))
    }
}
