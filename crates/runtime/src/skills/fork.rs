//! Skills that run in a child: a conversation of their own, of which the parent gets the result.

use std::sync::Arc;

use metier_activation::{
    Activation, ActivationError, ActivationOutcome, Invoker, ScopeEnd, SkillArguments, SkillScope,
};
use metier_catalog::{EntryId, State, one_line};
use metier_policy::{Action, Decision, Skill};
use metier_skill::{Context, Tool};
use serde_json::Value;

use super::room::{Gated, Restored};
use super::session::{NotUsed, Session};
use crate::toolset::{Coverage, Entrance, Hands, Told, Toolset};

/// Characters of a description where it says what a child is for: what the open standard allows.
const MAX_DESCRIPTION: usize = 1_024;

/// A skill in a conversation of its own: what a fork or a handoff begins with.
#[derive(Debug)]
pub struct Fork {
    /// The system prompt of the child: the skill's text without the envelope's tags.
    pub content: String,
    /// The same with everything that is known of it: which model, how many turns, which agent.
    pub activation: Box<Activation>,
    /// The child's conversation. What holds in the parent holds there, and the skill's scope until it is dropped.
    pub session: Session,
    /// What the gate decided, where it was asked apart from the activation.
    pub decision: Option<Decision>,
}

/// A child's conversation that goes on after its process ended.
#[derive(Debug)]
pub struct ForkAgain {
    /// Its own skill's scope: which model, how many turns.
    pub scope: SkillScope,
    /// The child's conversation, as [`Fork::session`] is one.
    pub session: Session,
    /// The skills of it that are not to be had any more. Its own is not among them: without it there is no child.
    pub gone: Vec<String>,
}

/// A skill that a call of the model would run in a child.
#[derive(Clone, Debug)]
pub struct ChildWanted {
    /// Which skill.
    pub id: EntryId,
    /// The same as the gate knows it.
    pub skill: Skill,
    /// What it is told.
    pub arguments: SkillArguments,
}

impl Session {
    /// The skill that a call would run in a child, since it says `context: fork`. `None` for every other call, also for one
    /// that cannot be carried out: [`Session::call`] says why.
    pub fn child_wanted(&self, tool: &str, input: &Value) -> Option<ChildWanted> {
        let (id, told) = self.toolset.activates(tool, input, &self.active)?;
        let snapshot = &self.room.snapshot;
        let file = snapshot.read(snapshot.entry(id)?).ok()?;
        (file.manifest()?.more.context == Context::Fork).then(|| self.wanted(id, told))
    }

    /// The skill that a call would activate, in the conversation or in a child.
    pub fn activation_wanted(&self, tool: &str, input: &Value) -> Option<ChildWanted> {
        let (id, told) = self.toolset.activates(tool, input, &self.active)?;
        Some(self.wanted(id, told))
    }

    /// Whether activating a skill only reads it: no command of its text would run.
    pub fn only_reads(&self, wanted: &ChildWanted) -> bool {
        let is_plain = self.room.drafted(wanted.id, &wanted.arguments, |draft| {
            draft.plan().is_ok_and(|plan| plan.commands().is_empty())
        });
        is_plain.unwrap_or(false)
    }

    /// A skill that the model may use and that is to run in a child whatever its `context` says, as it does behind a router.
    pub fn handoff_wanted(&self, name: &str, request: &str) -> Option<ChildWanted> {
        let id = self.toolset.open_to_the_model(name, &self.active)?;
        Some(self.wanted(id, Told::Text(request.to_owned())))
    }

    fn wanted(&self, id: EntryId, told: Told) -> ChildWanted {
        let arguments = match told {
            Told::Text(text) => SkillArguments::Text(text),
            Told::List(words) => SkillArguments::List(words),
        };
        ChildWanted { id, skill: Hands::skill(&self.room, id), arguments }
    }

    /// Whether a skill wants a child of its own, by its name.
    pub fn wants_child(&self, name: &str) -> Result<bool, NotUsed> {
        let id = self.find(name)?;
        let snapshot = &self.room.snapshot;
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
    ) -> Result<Fork, NotUsed> {
        self.fork_entry(self.find(name)?, by, &arguments.into(), Gated::NotYet)
    }

    /// The same for a call of the model: the gate is asked first, as it is for every call, and what it said comes with it.
    pub fn fork_wanted(&self, wanted: &ChildWanted) -> Result<Fork, NotUsed> {
        let action = Action::activate(wanted.skill.clone());
        let decision = Hands::decide(&self.room, &action);
        if !decision.is_allowed() {
            let (action, decision) = (Box::new(action), Box::new(decision));
            return Err(NotUsed::NotActivated(ActivationError::Gate { action, decision }));
        }
        let mut fork = self.fork_entry(wanted.id, Invoker::Model, &wanted.arguments, Gated::Already)?;
        fork.decision = Some(decision);
        Ok(fork)
    }

    fn fork_entry(
        &self,
        id: EntryId,
        by: Invoker,
        told: &SkillArguments,
        gated: Gated,
    ) -> Result<Fork, NotUsed> {
        let mut activation = self.room.activation_apart(id, by, told, gated)?;
        activation.scope.end = ScopeEnd::Child;
        let mut session = self.child(&activation.scope);
        let content = activation.content().to_owned();
        let activated = ActivationOutcome::Fresh(activation);
        session.room.conversation.borrow_mut().enter(&activated);
        session.activated(id);
        let ActivationOutcome::Fresh(activation) = activated else {
            return Err(NotUsed::Trouble("the skill was not activated".to_owned()));
        };
        Ok(Fork { content, activation, session, decision: None })
    }

    /// Takes up a child of this conversation whose process ended: first its own skill, then those that it activated itself. Nothing is
    /// rendered and nothing runs. `None` where its own skill is not to be had any more.
    pub fn fork_again(&self, skills: &[Restored]) -> Option<ForkAgain> {
        let (own, others) = skills.split_first()?;
        let (id, scope) = self.room.restored_scope(own, ScopeEnd::Child)?;
        let mut session = self.child(&scope);
        session.room.reopen(scope.clone(), own);
        session.activated(id);
        let gone = session.restore(others);
        Some(ForkAgain { scope, session, gone })
    }

    /// A conversation below this one, for a skill with this scope.
    fn child(&self, scope: &SkillScope) -> Self {
        let (surface, visible) = (self.toolset.surface(), self.toolset.visible().clone());
        // It was given its skill, so it needs no tool to get one; only one whose list names that tool works with others. It has
        // no catalogue, so it has to be able to search.
        let entrance = if scope.names(Tool::Skill) { Entrance::Tool } else { Entrance::Given };
        let toolset = Toolset::new(surface, visible, Coverage::Partial, entrance);
        let house = Arc::clone(&self.room.house);
        let mut session = Self::new(house, toolset, String::new(), self.mark, self.list.clone());
        session.room.continue_from(&self.room);
        session
    }
}
