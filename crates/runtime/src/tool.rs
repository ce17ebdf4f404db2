//! The one interface of tools: those of skills, of the agent itself and of MCP servers.
//!
//! ```text
//! name, JSON ─► Tool::plan ─► Plan ─► approve ─► Plan::execute ─► ToolResult
//!               what the      owned   rules,     runs once; what it changed in
//!               call means            a person   the project is decided at its end
//! ```
//!
//! [`ToolContext::call`] is that line. A plan has done nothing: a call that waits for a person is planned again when the answer is there.

mod definition;
mod form;
mod input;
mod registry;
mod result;

use metier_policy::{Action, Decision, Question};
use metier_sandbox::{Cancel, Stream};
use serde_json::Value;

pub use self::definition::{Definition, SideEffect, ToolFormat};
pub use self::form::{Field, FieldKind, Form};
pub use self::input::{Input, InputProblem};
pub(crate) use self::input::{ReferenceInput, cut};
pub use self::registry::ToolRegistry;
pub(crate) use self::result::error_json;
pub use self::result::{FileChange, MetaMessage, Outcome, ToolResult};
use crate::skills::{Approval, NoApproval, OutputListener, SkillSession};

/// A tool of a session.
pub trait Tool: Send + Sync {
    /// What a model is told of it.
    fn definition(&self) -> &Definition;

    /// Whether a model is told of it. Any tool of a session can be called.
    fn is_offered(&self) -> bool {
        true
    }

    /// Whether a name means this tool: its own, or one that other systems have for it.
    fn answers_to(&self, name: &str) -> bool {
        self.definition().name == name
    }

    /// Reads an input and says what the call would do. Does nothing, but for looking at files. The error is the call's result.
    fn plan<'a>(&'a self, input: &'a Value, context: ToolContext<'a>) -> Result<Plan<'a>, Box<ToolResult>>;
}

/// What a call runs with.
#[derive(Clone, Copy, Debug)]
pub struct ToolContext<'a> {
    /// The session of the skills, with its rules and answers.
    pub skills: &'a SkillSession,
    /// The caller's side of the call.
    pub control: CallControl<'a>,
}

/// The caller's side of a call.
#[derive(Clone, Copy, Default)]
pub struct CallControl<'a> {
    /// The caller's id of the call, for questions about it.
    pub id: Option<&'a str>,
    /// Cancels the call.
    pub cancel: Option<&'a Cancel>,
    /// Hears what programs write while they run.
    pub listener: Option<&'a OutputListener<'a>>,
    /// What a person has approved for this call alone, while nothing waited for the answer.
    pub approved: &'a [Question],
}

/// What a call would do: what needs permission, and the work. It owns what it needs, and nothing has been done.
#[must_use]
pub struct Plan<'a> {
    action: Option<Action>,
    change: Option<Box<FileChange>>,
    notes: Vec<String>,
    shape: Option<Box<dyn Fn(String) -> String + Send + 'a>>,
    work: Box<dyn FnOnce(&Approval) -> ToolResult + Send + 'a>,
}

impl<'a> Plan<'a> {
    /// Work that needs no permission.
    pub fn free(work: impl FnOnce(&Approval) -> ToolResult + Send + 'a) -> Self {
        Self { action: None, change: None, notes: Vec::new(), shape: None, work: Box::new(work) }
    }

    /// Work that needs the permission for an action.
    pub fn new(action: Action, work: impl FnOnce(&Approval) -> ToolResult + Send + 'a) -> Self {
        Self { action: Some(action), ..Self::free(work) }
    }

    /// The same, with the change of a file that is shown with the question.
    pub fn showing(mut self, change: FileChange) -> Self {
        self.change = Some(Box::new(change));
        self
    }

    /// The same, with the shape that a refusal has in this tool's results.
    pub fn refused_as(mut self, shape: impl Fn(String) -> String + Send + 'a) -> Self {
        self.shape = Some(Box::new(shape));
        self
    }

    /// The same, with notes for the reader of the result.
    pub fn noting(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// What the gate is asked, if anything.
    pub fn action(&self) -> Option<&Action> {
        self.action.as_ref()
    }

    /// Does the work.
    pub fn execute(self, approval: &Approval) -> ToolResult {
        let mut result = (self.work)(approval);
        result.decision = result.decision.or_else(|| approval.decision.clone());
        result.notes.extend(self.notes);
        result
    }

    fn refused(self, decision: Box<Decision>) -> ToolResult {
        let text = decision.to_string();
        let text = self.shape.map_or(text.clone(), |shape| shape(text));
        ToolResult { change: self.change, notes: self.notes, ..ToolResult::refused(text).by(decision) }
    }
}

impl CallControl<'_> {
    /// Passes on what a program wrote.
    pub(crate) fn hear(&self, stream: Stream, piece: &[u8]) {
        if let Some(listener) = self.listener {
            listener(stream, piece);
        }
    }
}

impl ToolContext<'_> {
    /// The permission for a further action of a call that runs already, such as another host.
    pub fn decide(&self, action: &Action) -> Decision {
        self.skills.decide_for(action, self.control)
    }

    /// Runs a call.
    pub fn call(&self, tool: &dyn Tool, input: &Value) -> ToolResult {
        let plan = match tool.plan(input, *self) {
            Ok(plan) => plan,
            Err(result) => return *result,
        };
        let Some(action) = plan.action() else { return plan.execute(&Approval::default()) };
        match self.skills.approve(action, plan.change.as_deref(), self.control) {
            Ok(approval) => plan.execute(&approval),
            Err(NoApproval::Refused(decision)) => plan.refused(decision),
            Err(NoApproval::Later(decision)) => ToolResult::waiting(decision),
        }
    }
}

impl std::fmt::Debug for CallControl<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallControl").field("id", &self.id).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("action", &self.action).finish_non_exhaustive()
    }
}
