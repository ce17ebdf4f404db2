//! A skill that the user or a program starts, and not the model.

use metier_runtime::{Activated, NotUsed};
use metier_store as store;
use metier_store::{By, EventKind, FailedPart, Outcome};

use super::beginning::who;
use super::{Answer, Talk, TalkError};
use crate::agent::Disclosure;
use crate::bridge::lock;
use crate::child::ChildMode;
use crate::watch::Piece;

impl Talk {
    /// The user, or a program, wants a skill: `/name arguments`. It is a message like any other, and the skill is in the conversation
    /// or in a child, as it says itself. One that cannot be had is an error, and nothing was said.
    pub fn say_skill(&mut self, by: By, name: &str, arguments: &str) -> Result<Answer, TalkError> {
        // Whatever refuses it does so before anything is written.
        self.wants_child(name)?;
        self.recall()?;
        let words = format!("/{name} {arguments}");
        self.take_words(words.trim_end(), by)?;
        self.work_with(by, name, arguments)
    }

    /// Works on what the user said first with this skill: see [`Talk::work`].
    pub fn work_with(&mut self, by: By, name: &str, arguments: &str) -> Result<Answer, TalkError> {
        self.recall()?;
        let wants_child = self.wants_child(name)?;
        let is_router = self.agent.disclosure == Disclosure::Handoff;
        if !wants_child && !is_router {
            return match self.put_in(by, name, arguments) {
                Ok(()) => self.work(),
                Err(error) => self.not_used(error),
            };
        }
        let (fork, outside) = match self.fork(by, name, arguments) {
            Ok(forked) => forked,
            Err(error) => return self.not_used(NotPut::Skill(error)),
        };
        let mode = if is_router { ChildMode::Handoff } else { ChildMode::Fork };
        match self.run_child(fork, mode, by, outside)? {
            Ok(Some(answer)) => {
                // It is the answer to the user, and nobody saw it come.
                self.log.watch().piece(Piece::Text(&answer.text));
                self.end(answer.outcome, answer.text, answer.why)
            }
            Ok(None) => {
                // The user has no answer yet, so it is waited for, unless more will be said.
                if self.await_children(Outcome::Done)? {
                    return self.work();
                }
                self.end(Outcome::Done, String::new(), None)
            }
            Err(why) => self.end(Outcome::Failed, String::new(), Some(why)),
        }
    }

    pub(super) fn not_used(&mut self, error: NotPut) -> Result<Answer, TalkError> {
        match error {
            NotPut::Talk(error) => Err(error),
            NotPut::Skill(error) => {
                let message = error.to_string();
                self.write(EventKind::Failed { at: FailedPart::Skill, message: message.clone() })?;
                self.end(Outcome::Failed, String::new(), Some(message))
            }
        }
    }

    /// Puts a skill into the conversation.
    pub(super) fn put_in(&mut self, by: By, name: &str, arguments: &str) -> Result<(), NotPut> {
        let used = lock(&self.session).activate_by(who(by), name, arguments).map_err(NotPut::Skill)?;
        let labels = lock(&self.session).labels_of_last().unwrap_or_default();
        let (skill, digest, notes) = match &used.activated {
            Activated::Fresh(activation) => {
                (&activation.skill, activation.digest.to_string(), activation.notes.clone())
            }
            Activated::Again(again) => (&again.skill, String::new(), Vec::new()),
        };
        let activated = store::Activated {
            skill: skill.name.clone(),
            origin: skill.origin.clone(),
            version: labels.version,
            digest,
            tree_digest: None,
            by,
            call: None,
            arguments: arguments.to_owned(),
            message: used.text.clone(),
            tags: labels.tags,
            notes,
        };
        self.write(EventKind::Activated(activated)).map_err(NotPut::Talk)
    }
}

/// Why a skill is not in the conversation.
pub(super) enum NotPut {
    Skill(NotUsed),
    Talk(TalkError),
}
