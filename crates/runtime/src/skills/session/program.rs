//! What a program asks of a session itself, without a model: to run a script, to show an activation, to open a skill's scope.

use std::path::PathBuf;
use std::time::Duration;

use metier_activation::{Activation, ActivationRequest, Invoker};
use metier_catalog::{CommandsStart, EntryId, State};
use metier_exec::{DeclaredNeeds, ResultFolder, RunOutput, SkillArguments};

use super::activate::Gated;
use super::outputs::Keeping;
use super::process::{CallTerms, ProcessKind};
use super::{SkillSession, UseError};
use crate::skills::engine::lock;

/// A script that a program runs for its user.
#[derive(Clone, Debug)]
pub struct ScriptCall<'a> {
    /// The skill: a name, `origin:name` or `name@requirement`.
    pub skill: &'a str,
    /// The script.
    pub script: &'a str,
    /// What it is told.
    pub arguments: SkillArguments,
    /// What the user gives it beyond what the skill and the configuration say; it takes no further yes.
    pub given: DeclaredNeeds<'a>,
    /// How long it may take, whatever the skill and the configuration say.
    pub time: Option<Duration>,
    /// Where it starts, whatever the configuration says.
    pub start: Option<CommandsStart>,
}

impl SkillSession {
    /// Runs a script as if its skill were active: its fence and its grants hold.
    pub fn run_script(&mut self, call: &ScriptCall<'_>) -> Result<RunOutput, UseError> {
        let id = self.usable(call.skill)?;
        self.assume_active(id)?;
        self.policy.allow(
            &self.rules_for(id, &call.given),
            &self.engine,
            self.toolset.visible().snapshot().layout(),
        );
        let terms =
            CallTerms { given: call.given, time: call.time, start: call.start, ..CallTerms::default() };
        let process = self.process(id, ProcessKind::Script, &terms)?;
        let plan = self.script_plan(&process, call.script, &call.arguments)?;
        self.approve_and_run(process, plan)
    }

    /// The rules that allow what the user gives to a skill.
    fn rules_for(&self, id: EntryId, given: &DeclaredNeeds<'_>) -> Vec<String> {
        let skill = self.skill(id);
        let lists = [("host", given.hosts), ("write", given.write), ("secret", given.env)];
        let rules = lists.into_iter().flat_map(|(word, texts)| texts.iter().map(move |text| (word, text)));
        rules.map(|(word, text)| format!("skill:{}:{}/{word}:{text}", skill.origin, skill.name)).collect()
    }

    /// The activation of a skill, made and not taken into the conversation.
    pub fn activation_alone(
        &self,
        by: Invoker,
        name: &str,
        arguments: impl Into<SkillArguments>,
    ) -> Result<Activation, UseError> {
        let id = self.usable(name)?;
        let arguments = arguments.into();
        Ok(*self.activation_apart(id, ActivationRequest { by, arguments: &arguments }, Gated::NotYet)?)
    }

    /// Opens the scope of a skill as if it had been activated: its fence holds, and tools that name no skill are its own.
    pub fn open_scope(&mut self, name: &str) -> Result<(), UseError> {
        let id = self.usable(name)?;
        self.assume_active(id)
    }

    fn assume_active(&mut self, id: EntryId) -> Result<(), UseError> {
        let scope = self.scope_of(id)?;
        let mut active = self.active_skills();
        active.conversation.scopes.open(scope);
        self.mark_active(&mut active, id);
        Ok(())
    }

    /// Says where long outputs are kept, instead of a folder that goes with the session: in a folder for results, with the name by
    /// which its reader knows it, or nowhere.
    pub fn keep_outputs(&mut self, folder: Option<(PathBuf, ResultFolder)>) {
        lock(&self.outputs).keeping = match folder {
            Some((shown, results)) => Keeping::Results(shown, results),
            None => Keeping::Nowhere,
        };
    }

    /// A skill that is not switched off.
    pub(super) fn usable(&self, name: &str) -> Result<EntryId, UseError> {
        let id = self.find(name)?;
        let entry = self.snapshot().entry(id);
        match entry.map(|entry| (entry.name().to_string(), entry.state())) {
            Some((name, state @ (State::Off | State::Disabled))) => Err(UseError::Off { name, state }),
            _ => Ok(id),
        }
    }
}
