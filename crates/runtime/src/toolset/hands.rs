//! Who carries out what the tools only describe.

use std::time::Duration;

use metier_catalog::EntryId;
use metier_exec::{ExecEnv, RunError, RunOutput, SkillContext};
use metier_policy::{Action, Decision, Skill};
use metier_sandbox::{Cancel, Stream};
use serde_json::{Map, Value};

use super::input::Told;

/// What a call is carried out with, for as long as it takes.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    /// Asks the gate and runs things.
    pub hands: &'a dyn Hands,
    /// Activates skills.
    pub activate: &'a dyn Activate,
    /// Finds skills, where there is a search.
    pub search: Option<&'a dyn Search>,
    /// The skills that were activated in the conversation, the last one at the end. Tools that name no skill belong to
    /// that one, also after its scope has ended.
    pub active: &'a [EntryId],
}

impl std::fmt::Debug for Desk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("active", &self.active).finish_non_exhaustive()
    }
}

/// Something that runs for a skill. It is called again after a question was answered.
pub type Job<'a> = dyn FnMut(&ExecEnv<'_>, &SkillContext<'_>) -> Result<RunOutput, RunError> + 'a;

/// Asks the gate, and runs things for a skill in its containment. A session has one.
pub trait Hands {
    /// A skill as the gate knows it, with its trust.
    fn skill(&self, id: EntryId) -> Skill;

    /// May this happen? Where it takes a yes and somebody can be asked, that has been done when this returns.
    fn decide(&self, action: &Action) -> Decision;

    /// Does the job with all that the skill's processes need, and again after each yes that it takes.
    fn run(&self, work: Work, job: &mut Job<'_>) -> Result<RunOutput, NotDone>;

    /// What takes a running job back, where somebody can.
    fn cancel(&self) -> Option<&Cancel> {
        None
    }

    /// Hears what a job writes while it runs, without what nobody may see. The result has it again.
    fn hear(&self, _stream: Stream, _piece: &[u8]) {}

    /// Keeps what of a run is too long for a model where it can be read. Gives what stands before the names of the files
    /// ([`RunOutput::long`]), such as `/tmp/x/1/`; nothing where there is nothing to keep or nobody keeps it, and a sentence where
    /// it could not be kept.
    fn keep(&self, _ran: &RunOutput) -> Result<Option<String>, String> {
        Ok(None)
    }
}

/// Something that is to run for a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The skill.
    pub id: EntryId,
    /// What runs.
    pub kind: WorkKind,
    /// How long it may take where nobody says otherwise for this skill.
    pub time: Duration,
}

/// What runs for a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// A script of its own, with all that the skill needs: one question for all of it.
    Script,
    /// A line that the model wrote. Most need nothing, so nobody is asked for what the skill's scripts need; what they were
    /// given before, it gets as well.
    CommandLine,
}

/// Why a job was not done.
#[derive(Debug, thiserror::Error)]
pub enum NotDone {
    /// Nothing ran.
    #[error(transparent)]
    NotRun(#[from] RunError),
    /// What it takes could not be had: the skill is gone, its data folder cannot be made.
    #[error("{0}")]
    Trouble(String),
}

/// Puts a skill's text into the conversation. The gate has been asked when this is called.
pub trait Activate {
    /// Activates a skill, or says why not: a vanished or broken file is an answer and no activation.
    fn activate(&self, request: &Use<'_>) -> Result<InUse, String>;
}

/// Which skill is to be activated, and with what.
#[derive(Clone, Copy, Debug)]
pub struct Use<'a> {
    /// The skill.
    pub id: EntryId,
    /// What it is called.
    pub name: &'a str,
    /// What it is told.
    pub arguments: &'a Told,
}

/// A skill that was activated.
#[derive(Clone, Debug, Default)]
pub struct InUse {
    /// The whole message, envelope included, which follows the tool's result.
    pub message: String,
    /// The same without the envelope, for surfaces that return it themselves.
    pub content: String,
    /// The frontmatter, unknown keys included: see [`super::frontmatter()`].
    pub frontmatter: Map<String, Value>,
    /// Said instead of the confirmation, and no message follows: the same text is in the conversation already, or a child
    /// has done the work.
    pub instead: Option<String>,
    /// What whoever reads it should know beside.
    pub notes: Vec<String>,
}

/// Finds skills by what they are for.
pub trait Search {
    /// The skills that fit best, best first.
    fn search(&self, query: &str, limit: usize) -> Vec<Hit>;
}

/// A skill that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Why it fits.
    pub why: String,
}
