//! What a program asks of a session itself, without a model: to run a script, to show an activation, to install packages, to say
//! what would be allowed.

use std::path::PathBuf;
use std::time::Duration;

use metier_activation::{
    Activation, ActivationDraft, ActivationError, ActivationRequest, Invoker, SkillArguments,
};
use metier_catalog::{CommandsStart, EntryId, State};
use metier_exec::{
    DeclaredNeeds, ExecEnv, MissingRequirement, PrepareOptions, PrepareOutcome, ResultFolder, RunOutput,
    ScriptArguments, run_script,
};
use metier_policy::{Action, Mode, Problem};

use super::outputs::Keeping;
use super::room::{CallTerms, Gated};
use super::session::{NotUsed, Session};
use crate::toolset::{Hands, Work, WorkKind};

/// A script that a program runs for its user.
#[derive(Clone, Debug)]
pub struct ScriptCall<'a> {
    /// The skill: a name, `origin:name` or `name@requirement`.
    pub skill: &'a str,
    /// The script.
    pub script: &'a str,
    /// What it is told.
    pub arguments: ScriptArguments,
    /// What the user gives it beyond what the skill and the configuration say; it takes no further yes.
    pub given: DeclaredNeeds<'a>,
    /// How long it may take, whatever the skill and the configuration say.
    pub time: Option<Duration>,
    /// Where it starts, whatever the configuration says.
    pub start: Option<CommandsStart>,
}

impl Session {
    /// Runs a script as if its skill were active: its fence and its grants hold.
    pub fn run_script(&mut self, call: &ScriptCall<'_>) -> Result<RunOutput, NotUsed> {
        let id = self.usable(call.skill)?;
        self.assume_active(id)?;
        self.room.allow(&self.rules_for(id, &call.given));
        let terms = CallTerms { given: call.given, time: call.time, start: call.start };
        let work = Work { id, kind: WorkKind::Script, time: self.room.surface.time() };
        let room = &self.room;
        let ran = room.perform(work, &terms, &mut |env, context| {
            let mut hear = |stream, piece: &[u8]| room.hear(stream, piece);
            run_script(env, context, call.script, &call.arguments, room.cancel(), &mut hear)
        });
        Ok(ran?)
    }

    /// The rules that allow what the user gives to a skill.
    fn rules_for(&self, id: EntryId, given: &DeclaredNeeds<'_>) -> Vec<String> {
        let skill = Hands::skill(&self.room, id);
        let lists = [("host", given.hosts), ("write", given.write), ("secret", given.env)];
        let rules = lists.into_iter().flat_map(|(word, texts)| texts.iter().map(move |text| (word, text)));
        rules.map(|(word, text)| format!("skill:{}:{}/{word}:{text}", skill.origin, skill.name)).collect()
    }

    /// The activation of a skill, made and not taken into the conversation.
    pub fn activation(
        &self,
        by: Invoker,
        name: &str,
        arguments: impl Into<SkillArguments>,
    ) -> Result<Activation, NotUsed> {
        let id = self.usable(name)?;
        Ok(*self.room.activation_apart(id, by, &arguments.into(), Gated::NotYet)?)
    }

    /// Looks at what an activation would be made of. Nothing runs and nobody is asked.
    pub fn with_draft<T>(
        &self,
        by: Invoker,
        name: &str,
        arguments: impl Into<SkillArguments>,
        look: impl FnOnce(&ActivationDraft<'_>, &ExecEnv<'_>) -> Result<T, ActivationError>,
    ) -> Result<T, NotUsed> {
        let (id, arguments) = (self.usable(name)?, arguments.into());
        Ok(self.room.with_draft(id, ActivationRequest { by, arguments: &arguments }, look)?)
    }

    /// Installs the packages that a skill's scripts want, for this skill alone.
    pub fn prepare(
        &self,
        name: &str,
        order: &PrepareOptions<'_>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<PrepareOutcome>, NotUsed> {
        Ok(self.room.prepare(self.usable(name)?, order, progress)?)
    }

    /// What the gate would be asked about a script of a skill, to the word: how it would be started, its bytes, and what it needs.
    pub fn script_action(&self, name: &str, script: &str) -> Result<Action, NotUsed> {
        Ok(self.room.script_action(self.usable(name)?, script)?)
    }

    /// What a skill requires and its scripts would not find.
    pub fn missing(&self, id: EntryId) -> Vec<MissingRequirement> {
        self.room.missing_of(id)
    }

    /// Opens the scope of a skill as if it had been activated: its fence holds, and tools that name no skill are its own.
    pub fn open_scope(&mut self, name: &str) -> Result<(), NotUsed> {
        let id = self.usable(name)?;
        self.assume_active(id)
    }

    fn assume_active(&mut self, id: EntryId) -> Result<(), NotUsed> {
        let scope = self.room.scope_of(id).map_err(NotUsed::Trouble)?;
        self.room.conversation.borrow_mut().scopes.open(scope);
        self.activated(id);
        Ok(())
    }

    /// What in the rules could not be taken as it is written, and what holds instead.
    pub fn rule_problems(&self) -> &[Problem] {
        self.room.rules.problems()
    }

    /// How much is asked in this session.
    pub fn mode(&self) -> Mode {
        self.room.rules.mode()
    }

    /// Says where long outputs are kept, instead of a folder that goes with the session: in a folder for results, with the name by
    /// which its reader knows it, or nowhere.
    pub fn keep_outputs(&mut self, folder: Option<(PathBuf, ResultFolder)>) {
        self.room.outputs.borrow_mut().keeping = match folder {
            Some((shown, results)) => Keeping::Results(shown, results),
            None => Keeping::Nowhere,
        };
    }

    /// A skill that is not switched off.
    fn usable(&self, name: &str) -> Result<EntryId, NotUsed> {
        let id = self.find(name)?;
        let entry = self.room.snapshot.entry(id);
        match entry.map(|entry| (entry.name().to_string(), entry.state())) {
            Some((name, state @ (State::Off | State::Disabled))) => Err(NotUsed::Off { name, state }),
            _ => Ok(id),
        }
    }
}
