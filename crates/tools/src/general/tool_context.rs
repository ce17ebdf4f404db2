//! What a call is carried out with.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use metier_exec::{AgentContext, ChangeReport, EditError, ExecEnv, FileEdit, RunError, RunOutput};
use metier_policy::{Action, Decision, Skill};
use metier_runtime::{Change, NotDone};
use metier_sandbox::{Cancel, Stream};

use super::{Ask, Memory};

/// What a call is carried out with, for as long as it takes.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// Asks the gate and runs things.
    pub executor: &'a dyn Executor,
    /// Puts questions to the user, where somebody is there.
    pub ask: Option<&'a dyn Ask>,
    /// Keeps records, where there is a memory.
    pub memory: Option<&'a dyn Memory>,
    /// The skills that are active, the one that was activated last at the end. Their own files can be read, and a record
    /// belongs to the last one.
    pub active: &'a [ActiveSkill],
    /// Takes back what runs or waits for somebody.
    pub cancel: Option<&'a Cancel>,
    /// Hears what a command writes while it runs, without what nobody may see.
    pub hear: Option<&'a Hear<'a>>,
}

impl<'a> ToolContext<'a> {
    /// One with nobody to be asked, no memory, nobody who listens and no way to take anything back.
    pub fn new(executor: &'a dyn Executor, active: &'a [ActiveSkill]) -> Self {
        Self { executor, ask: None, memory: None, active, cancel: None, hear: None }
    }
}

impl fmt::Debug for ToolContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext").field("active", &self.active).finish_non_exhaustive()
    }
}

/// Hears a piece of what a command writes to one of its streams.
pub type Hear<'a> = dyn Fn(Stream, &[u8]) + 'a;

/// A skill that is active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveSkill {
    /// Who it is, for the gate.
    pub skill: Skill,
    /// Its folder, without links on the way.
    pub folder: PathBuf,
    /// The digest of the text that was put into the conversation.
    pub digest: String,
}

/// Something that runs for the agent. It is called again after a question was answered.
pub type RunJob<'a> = dyn FnMut(&ExecEnv<'_>, &AgentContext<'_>) -> Result<RunOutput, RunError> + 'a;

/// What is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// How long it may take.
    pub time: Duration,
}

/// Asks the gate, and runs command lines in the agent's containment. Reads of one turn come from several threads at once;
/// questions to a person are for the implementation to put in order.
pub trait Executor: Sync {
    /// May this happen? Where it takes a yes and somebody can be asked, that has been done when this returns. `shown` is the
    /// change of a file that would be made, which belongs to the question.
    fn decide(&self, action: &Action, shown: Option<&Change>) -> Decision;

    /// The same without asking anybody.
    fn judge(&self, action: &Action) -> Decision;

    /// Writes a file that was allowed to be written, so that it is listed and can be undone. `None` where nothing keeps changes;
    /// the tool then writes the file itself.
    fn write(&self, _edit: &FileEdit<'_>) -> Result<Option<ChangeReport>, EditError> {
        Ok(None)
    }

    /// Does the job with all that the agent's processes need, and again after each yes that it takes.
    fn run(&self, running: &Running, job: &mut RunJob<'_>) -> Result<RunOutput, NotDone>;
}
