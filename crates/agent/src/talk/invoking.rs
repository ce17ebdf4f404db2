//! Skills that the user names: `/name arguments`, or `$name` in a message.

use metier_diagnostic::Severity;
use metier_runtime::{Activated as Entered, By as Who, NotUsed};
use metier_store as store;
use metier_store::{Activated, By, EventKind, Outcome, Used};

use super::{Answer, Company, Talk, TalkError};
use crate::agent::Agent;
use crate::bridge::lock;
use crate::halt::Halt;
use crate::tools::Setting;

/// A skill that the user named, with what stood behind its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The skill, as the user wrote it.
    pub name: String,
    /// The argument text, byte for byte.
    pub arguments: String,
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
        self.hear(text)?;
        self.work_with(named)
    }

    /// Puts the skills that the user named into the conversation, and works on it. Where one of them cannot be had nothing is
    /// asked: a request without the skill that it is about is another request.
    pub fn work_with(&mut self, named: &[Invocation]) -> Result<Answer, TalkError> {
        self.recall()?;
        for invocation in named {
            if let Err(error) = self.invoke(invocation)? {
                let message = error.to_string();
                let at = format!("skill {}", invocation.name);
                self.write(EventKind::Failed { at, message: message.clone() })?;
                return self.end(Outcome::Failed, String::new(), Some(message));
            }
        }
        self.work()
    }

    /// Stops what comes next with this, and not with what stopped it before: each message of the user has its own.
    pub fn halt_with(&mut self, halt: Halt) {
        lock(&self.session).cancel_with(halt.cancel().clone());
        self.halt = halt;
    }

    fn invoke(&mut self, invocation: &Invocation) -> Result<Result<(), NotUsed>, TalkError> {
        let Invocation { name, arguments } = invocation;
        let (used, active, labels) = {
            let mut session = lock(&self.session);
            let used = match session.activate_by(Who::User, name, arguments.as_str()) {
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
        self.used.push((
            Used {
                skill: active.skill.name.clone(),
                origin: active.skill.origin.clone(),
                digest: active.digest.clone(),
                tags: labels.tags.clone(),
                by: By::User,
                usage: store::Usage::default(),
                cost_micros: 0,
                outcome: Outcome::Done,
            },
            self.spent,
        ));
        self.write(EventKind::Activated(Activated {
            skill: active.skill.name,
            origin: active.skill.origin,
            version: labels.version,
            digest: active.digest,
            tree_digest: None,
            by: By::User,
            call: None,
            arguments: arguments.clone(),
            message: used.text,
            tags: labels.tags,
            notes,
        }))?;
        Ok(Ok(()))
    }
}
