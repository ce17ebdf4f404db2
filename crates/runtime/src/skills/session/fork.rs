//! Skills that run in a child: a conversation of their own, of which the parent gets the result.

use std::sync::Arc;

use metier_activation::{
    Activation, ActivationError, ActivationRequest, Invoker, ScopeEnd, SkillArguments, SkillScope,
};
use metier_catalog::{EntryId, State, one_line};
use metier_policy::{Action, Decision, Skill};
use metier_skill::{Context, MAX_DESCRIPTION, Tool};
use serde_json::Value;

use super::activate::Gated;
use super::policy::NoApproval;
use super::{Follows, RestoredSkill, SkillSession, UseError};
use crate::tool::CallControl;
use crate::toolset::{Coverage, Entrance, Toolset};

/// A skill in a conversation of its own: what a fork or a handoff begins with.
#[derive(Debug)]
pub struct Fork {
    /// The system prompt of the child: the skill's text without the envelope's tags.
    pub content: String,
    /// The same with everything that is known of it: which model, how many turns, which agent.
    pub activation: Box<Activation>,
    /// The child's conversation. What holds in the parent holds there, and the skill's scope until it is dropped.
    pub session: SkillSession,
    /// What the gate decided, where it was asked apart from the activation.
    pub decision: Option<Decision>,
}

/// A child's conversation that goes on after its process ended.
#[derive(Debug)]
pub struct ResumedFork {
    /// Its own skill's scope: which model, how many turns.
    pub scope: SkillScope,
    /// The child's conversation, as [`Fork::session`] is one.
    pub session: SkillSession,
    /// The skills of it that are not to be had any more. Its own is not among them: without it there is no child.
    pub gone: Vec<String>,
}

/// A skill that a call of the model would run in a child.
#[derive(Clone, Debug)]
pub struct ForkRequest {
    /// Which skill.
    pub id: EntryId,
    /// The same as the gate knows it.
    pub skill: Skill,
    /// What it is told.
    pub arguments: SkillArguments,
}

impl SkillSession {
    /// The skill that a call would run in a child, since it says `context: fork`. `None` for every other call, also for one
    /// that cannot be carried out: [`SkillSession::call`] says why.
    pub fn fork_request(&self, tool: &str, input: &Value) -> Option<ForkRequest> {
        let (id, told) = self.toolset.activates(tool, input, &self.active_ids())?;
        let snapshot = self.snapshot();
        let file = snapshot.read(snapshot.entry(id)?).ok()?;
        (file.manifest()?.more.context == Context::Fork).then(|| self.wanted(id, told))
    }

    /// The skill that a call would activate, in the conversation or in a child.
    pub fn activation_request(&self, tool: &str, input: &Value) -> Option<ForkRequest> {
        let (id, told) = self.toolset.activates(tool, input, &self.active_ids())?;
        Some(self.wanted(id, told))
    }

    /// Whether activating a skill only reads it: no command of its text would run.
    pub fn only_reads(&self, wanted: &ForkRequest) -> bool {
        self.preview(wanted.id, &wanted.arguments).is_some_and(|preview| !preview.runs_commands)
    }

    /// A skill that the model may use and that is to run in a child whatever its `context` says, as it does behind a router.
    pub fn handoff_request(&self, name: &str, request: &str) -> Option<ForkRequest> {
        let id = self.toolset.open_to_the_model(name, &self.active_ids())?;
        Some(self.wanted(id, request.into()))
    }

    fn wanted(&self, id: EntryId, arguments: SkillArguments) -> ForkRequest {
        ForkRequest { id, skill: self.skill(id), arguments }
    }

    /// Whether a skill wants a child of its own, by its name.
    pub fn is_fork(&self, name: &str) -> Result<bool, UseError> {
        let id = self.find(name)?;
        let snapshot = self.snapshot();
        let file = snapshot.entry(id).and_then(|entry| snapshot.read(entry).ok());
        // A file that cannot be read is the activation's to refuse.
        let manifest = file.as_ref().and_then(|file| file.manifest());
        Ok(manifest.is_some_and(|manifest| manifest.more.context == Context::Fork))
    }

    /// The skills that the model may use, each with what it is for on one line: the routes of an agent that hands over.
    pub fn offered(&self) -> impl Iterator<Item = (EntryId, String, String)> {
        self.toolset.visible().offered().map(|(id, entry)| {
            let mut text = String::new();
            if entry.state() != State::NameOnly {
                text = one_line(entry.description(), MAX_DESCRIPTION);
                if let Some(when) = entry.when_to_use() {
                    text = one_line(&format!("{text} {when}"), 2 * MAX_DESCRIPTION);
                }
            }
            (id, entry.name().to_string(), text)
        })
    }

    /// Prepares a child of this conversation that runs one skill, whatever its `context` says: a fork, or a handoff. Nothing
    /// of it is in this conversation; give its final answer to the model and drop it.
    pub fn fork(
        &self,
        by: Invoker,
        name: &str,
        arguments: impl Into<SkillArguments>,
    ) -> Result<Fork, UseError> {
        self.fork_entry(self.find(name)?, by, &arguments.into(), Gated::NotYet)
    }

    /// The same for a call of the model: the gate is asked first, as it is for every call, and what it said comes with it.
    pub fn start_fork(&self, wanted: &ForkRequest, control: CallControl<'_>) -> Result<Fork, UseError> {
        let action = Action::activate(wanted.skill.clone());
        let decision = match self.approve(&action, None, control) {
            Ok(approval) => approval.decision.map(|decision| *decision),
            Err(NoApproval::Later(decision)) => return Err(UseError::Waiting(decision)),
            Err(NoApproval::Refused(decision)) => {
                let action = Box::new(action);
                return Err(UseError::Activation(ActivationError::Gate { action, decision }));
            }
        };
        let mut fork = self.fork_entry(wanted.id, Invoker::Model, &wanted.arguments, Gated::Already)?;
        fork.decision = decision;
        Ok(fork)
    }

    fn fork_entry(
        &self,
        id: EntryId,
        by: Invoker,
        told: &SkillArguments,
        gated: Gated,
    ) -> Result<Fork, UseError> {
        let request = ActivationRequest { by, arguments: told };
        let mut activation = self.activation_apart(id, request, gated)?;
        activation.scope.end = ScopeEnd::Child;
        let session = self.child(&activation.scope);
        let content = activation.content().to_owned();
        {
            let mut active = session.active_skills();
            active.conversation.enter_fresh(&activation);
            session.mark_active(&mut active, id);
        }
        Ok(Fork { content, activation, session, decision: None })
    }

    /// Takes up a child of this conversation whose process ended: first its own skill, then those that it activated itself. Nothing is
    /// rendered and nothing runs. `None` where its own skill is not to be had any more.
    pub fn resume_fork(&self, skills: &[RestoredSkill]) -> Option<ResumedFork> {
        let (own, others) = skills.split_first()?;
        let (id, scope) = self.restored_scope(own, ScopeEnd::Child)?;
        let mut session = self.child(&scope);
        session.reopen(id, scope.clone(), own);
        let gone = session.restore(others);
        Some(ResumedFork { scope, session, gone })
    }

    /// A conversation below this one, for a skill with this scope.
    fn child(&self, scope: &SkillScope) -> Self {
        let (surface, visible) = (self.toolset.surface(), self.toolset.visible().clone());
        // It was given its skill, so it needs no tool to get one; only one whose list names that tool works with others. It has
        // no catalogue, so it has to be able to search.
        let entrance = if scope.names(Tool::Skill) { Entrance::Tool } else { Entrance::Given };
        let toolset = Toolset::new(surface, visible, Coverage::Partial, entrance);
        let Follows { cursor, list, .. } = &self.follows;
        Self::new(Arc::clone(&self.engine), toolset, String::new(), *cursor, list.clone()).beneath(self)
    }
}
