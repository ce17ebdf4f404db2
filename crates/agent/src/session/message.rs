//! What the user, or a program, sends to a session.

use metier_activation::ActivationOutcome;
use metier_policy::Skill;
use metier_runtime::{Note, SkillLabels, UseError};
use metier_store as store;
use metier_store::{By, EventKind, FailedPart, NoteTopic, Offer, SubagentMode};

use super::effect::End;
use super::spawn::requester;
use super::{Answer, NextRun, Session, SessionError};
use crate::agent::Disclosure;
use crate::observer::StreamDelta;

/// A message to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserMessage {
    /// Plain text. Skills that fit it are offered to the model.
    Text(String),
    /// Text that names its skills (`$name`): they are activated, and no others are offered for it.
    Mentions {
        /// The text.
        text: String,
        /// The names of the skills.
        skills: Vec<String>,
    },
    /// A skill with arguments (`/name arguments`). It runs in the session or in a sub-agent, as the skill says.
    Skill {
        /// Who wants it.
        by: By,
        /// The skill.
        name: String,
        /// Its arguments.
        arguments: String,
    },
}

impl UserMessage {
    /// Plain text.
    pub fn new(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The message as text, as it is stored.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) | Self::Mentions { text, .. } => text.clone(),
            Self::Skill { name, arguments, .. } => format!("/{name} {arguments}").trim_end().to_owned(),
        }
    }
}

/// Why a skill is not in the conversation.
enum PutError {
    Skill(UseError),
    Session(SessionError),
}

impl Session {
    /// Sends a further message, and works on it. A skill that cannot be used is an error, and nothing was sent.
    pub fn send(&mut self, message: UserMessage) -> Result<Answer, SessionError> {
        self.load()?;
        let by = match &message {
            UserMessage::Skill { by, name, .. } => {
                self.wants_subagent(name)?;
                *by
            }
            UserMessage::Text(_) | UserMessage::Mentions { .. } => By::User,
        };
        let text = message.text();
        self.leave_unfinished()?;
        let note = self.skills.user_message();
        self.subagents.budget.begin(self.agent.limits);
        self.touch(metier_catalog::files_named(&text));
        self.write(EventKind::Said { text, by })?;
        if let Some(note) = note.as_ref().and_then(Note::text) {
            self.write(EventKind::Noted { text: note, about: NoteTopic::Skills })?;
        }
        self.collect_notes()?;
        if let UserMessage::Text(text) = &message {
            self.offer(text)?;
        }
        self.next = NextRun::Message(message);
        self.run()
    }

    /// Does what a message asks for before the model is asked. Returns the answer if that was all.
    pub(super) fn begin_run(&mut self) -> Result<Option<Answer>, SessionError> {
        match std::mem::take(&mut self.next) {
            NextRun::Continue | NextRun::Message(UserMessage::Text(_)) => Ok(None),
            NextRun::Resume => self.resume_run().map(|()| None),
            NextRun::Message(UserMessage::Mentions { skills, .. }) => {
                for name in skills {
                    if let Err(error) = self.put_in(By::User, &name, "") {
                        // A request without the skill that it is about is another request.
                        return self.not_put(error).map(Some);
                    }
                }
                Ok(None)
            }
            NextRun::Message(UserMessage::Skill { by, name, arguments }) => {
                self.invoke(by, &name, &arguments)
            }
        }
    }

    /// Runs a skill for the user or a program.
    fn invoke(&mut self, by: By, name: &str, arguments: &str) -> Result<Option<Answer>, SessionError> {
        let is_router = self.agent.disclosure == Disclosure::Handoff;
        if !self.wants_subagent(name)? && !is_router {
            return match self.put_in(by, name, arguments) {
                Ok(()) => Ok(None),
                Err(error) => self.not_put(error).map(Some),
            };
        }
        let (fork, external) = match self.fork(by, name, arguments) {
            Ok(forked) => forked,
            Err(error) => return self.not_put(PutError::Skill(error)).map(Some),
        };
        let kind = if is_router { SubagentMode::Handoff } else { SubagentMode::Fork };
        let end = match self.run_subagent(fork, kind, by, external)? {
            Ok(Some(answer)) => {
                // It is the answer to the user, and none of it was shown yet.
                self.log.observer().delta(StreamDelta::Text(&answer.ended.text));
                End::new(answer.ended.outcome, answer.ended.text, answer.ended.why)
            }
            // It works in the background, and the model gets its answer.
            Ok(None) => {
                self.await_subagents()?;
                return Ok(None);
            }
            Err(why) => End::failed(why),
        };
        self.finish(end).map(Some)
    }

    fn not_put(&mut self, error: PutError) -> Result<Answer, SessionError> {
        match error {
            PutError::Session(error) => Err(error),
            PutError::Skill(error) => {
                let message = error.to_string();
                self.write(EventKind::Failed { at: FailedPart::Skill, message: message.clone() })?;
                self.finish(End::failed(message))
            }
        }
    }

    /// Puts a skill into the conversation.
    fn put_in(&mut self, by: By, name: &str, arguments: &str) -> Result<(), PutError> {
        let used = self.skills.activate_by(requester(by), name, arguments).map_err(PutError::Skill)?;
        let labels = self.skills.labels_of_last().unwrap_or_default();
        let (skill, digest, notes) = match &used.activated {
            ActivationOutcome::Fresh(activation) => {
                (&activation.skill, activation.digest.to_string(), activation.notes.clone())
            }
            ActivationOutcome::Again(again) => (&again.skill, String::new(), Vec::new()),
        };
        let (arguments, message) = (arguments.to_owned(), used.text.clone());
        let activated = activated(skill, labels, by);
        let activated = store::Activated { digest, arguments, message, notes, ..activated };
        self.write(EventKind::Activated(activated)).map_err(PutError::Session)
    }

    /// Writes which skills fit, and tells the model of them if its catalogue is not complete.
    pub(super) fn offer(&mut self, request: &str) -> Result<(), SessionError> {
        let (record, note) = {
            let skills = &self.skills;
            if skills.toolset().definitions().next().is_none() {
                return Ok(());
            }
            skills.shortlist(request)
        };
        let shortlist = record.offered.iter().zip(1..).map(|(offered, rank)| Offer {
            name: offered.name.clone(),
            rank,
            score: offered.score.into(),
        });
        let shortlist = shortlist.collect();
        let abstained = record.abstain.is_some();
        self.write(EventKind::Offered { query: request.to_owned(), shortlist, abstained })?;
        if self.prefix.has_skill_search() && !note.is_empty() {
            self.write(EventKind::Noted { text: note, about: NoteTopic::Shortlist })?;
        }
        Ok(())
    }
}

/// What is written of a skill that is activated, as far as it is the same for every way.
pub(super) fn activated(skill: &Skill, labels: SkillLabels, by: By) -> store::Activated {
    let SkillLabels { version, tags } = labels;
    let (skill, origin) = (skill.name.clone(), skill.origin.clone());
    store::Activated { skill, origin, version, tags, by, ..store::Activated::default() }
}
