//! A skill's command with the values of a request, kept from the turn that activates the skill to the turn that runs it.

use std::sync::{Mutex, PoisonError};

use crate::fill::FillInput;
use crate::router::SkillFacts;
use crate::template::{CommandTemplate, FilledCommand, SlotSource};

/// What the planner knows about the skill for a request, and the command that it would run.
#[derive(Clone, Debug)]
pub(crate) struct PreparedCommand {
    pub(crate) facts: SkillFacts,
    pub(crate) filled: FilledCommand,
}

impl PreparedCommand {
    /// Fills in the command of a skill.
    pub(crate) fn new(facts: SkillFacts, request: &str) -> Self {
        let source = match call_by_name(request).filter(|(name, _)| *name == facts.name) {
            Some((_, arguments)) => SlotSource::Arguments(arguments),
            None => SlotSource::Request(FillInput {
                name: &facts.name,
                request,
                matched: &facts.matched,
                body: &facts.body,
            }),
        };
        let filled = CommandTemplate::of(&facts).fill(&facts, &source);
        Self { facts, filled }
    }
}

/// The name after a slash, and the text that follows it.
pub(crate) fn call_by_name(request: &str) -> Option<(&str, &str)> {
    let rest = request.trim().strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Some((name, arguments.trim()))
}

/// The command of the last activation. It saves reading and filling the same skill again one turn later; without it, as after a
/// resume, the planner prepares the command anew.
#[derive(Debug, Default)]
pub(crate) struct PreparedCache(Mutex<Option<(String, PreparedCommand)>>);

impl PreparedCache {
    /// Keeps the command for a request; the one before is dropped.
    pub(crate) fn keep(&self, request: &str, prepared: PreparedCommand) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((request.to_owned(), prepared));
    }

    /// Takes out the command of this skill for this request.
    pub(crate) fn take(&self, request: &str, skill: &str) -> Option<PreparedCommand> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant =
            kept.as_ref().is_some_and(|(known, prepared)| known == request && prepared.facts.name == skill);
        if is_meant { kept.take().map(|(_, prepared)| prepared) } else { None }
    }
}
