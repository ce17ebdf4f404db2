//! What came of a call.

use metier_catalog::EntryId;
use metier_exec::{ChangeReport, ProcessReport, RunOutput};
use metier_policy::Decision;
use serde_json::{Value, json};

/// What came of a call: what the model gets, and what everybody else should know. Nothing is written anywhere; whoever
/// called records it.
#[derive(Clone, Debug, Default)]
pub struct ToolResult {
    /// What the model gets.
    pub text: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What whoever reads it should know beside.
    pub notes: Vec<String>,
    /// The message that follows all results of the turn, after an activation.
    pub message: Option<MetaMessage>,
    /// The skill that was activated: it is the last one of the conversation now.
    pub activated: Option<EntryId>,
    /// What the gate decided, where it was asked.
    pub decision: Option<Box<Decision>>,
    /// The same as data, for those who give both to a model: what a program wrote, the skills that were found.
    pub data: Option<Box<Value>>,
    /// The change of a file that was made, or was to be made where it was refused.
    pub change: Option<Box<FileChange>>,
    /// What became of the process, where one ran.
    pub process: Option<Box<ProcessReport>>,
    /// What became of everything that it changed in the project.
    pub changes: Option<Box<ChangeReport>>,
}

/// A change of one file, to be shown before it is made and to be recorded afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file, as people know it: seen from the project.
    pub path: String,
    /// What changes, as a unified diff; cut where it is too long to be read, with a line that says so.
    pub diff: String,
    /// Whether the file is made by it.
    pub created: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was carried out.
    #[default]
    Done,
    /// It was carried out, and what ran failed.
    Failed,
    /// It was not carried out.
    Refused,
    /// It was not carried out yet: a person answers later, and then it is called again.
    Waiting,
}

/// A message with the role of the user that no user wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaMessage {
    /// The skill whose text it is.
    pub skill: String,
    /// The text.
    pub text: String,
}

impl MetaMessage {
    /// What kind of message it is, for whoever keeps it.
    pub const KIND: &'static str = "skill-context";
}

impl ToolResult {
    /// It was carried out.
    pub fn done(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// It was not carried out; `text` says why, and what to do instead.
    pub fn refused(text: String) -> Self {
        Self { text, outcome: Outcome::Refused, ..Self::default() }
    }

    /// It needs an approval that comes later.
    pub fn waiting(decision: Box<Decision>) -> Self {
        Self { text: decision.to_string(), outcome: Outcome::Waiting, ..Self::default() }.by(decision)
    }

    /// A program ran; `text` is its result in the shape of the tool.
    pub fn ran(ran: RunOutput, text: String) -> Self {
        let text = ran.with_changes(text);
        let outcome = if ran.report.succeeded() { Outcome::Done } else { Outcome::Failed };
        let data = Some(Box::new(ran.data()));
        let decision = Some(Box::new(ran.decision));
        let process = Some(Box::new(ran.process));
        let changes = ran.changes.map(Box::new);
        Self { text, outcome, notes: ran.notes, decision, data, process, changes, ..Self::default() }
    }

    /// The same, with what the gate decided.
    #[must_use]
    pub fn by(mut self, decision: impl Into<Box<Decision>>) -> Self {
        self.decision = Some(decision.into());
        self
    }

    /// Whether the model should take it for an error.
    pub fn is_error(&self) -> bool {
        self.outcome != Outcome::Done
    }
}

/// An error in the shape of the ADK's results.
pub(crate) fn error_json(message: &str) -> String {
    Value::to_string(&json!({ "error": message }))
}
