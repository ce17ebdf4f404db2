//! Why a call is not carried out.

use metier_files::Error;
use metier_policy::{Action, Decision};
use metier_runtime::{Change, InputProblem, Outcome, ToolResult};

use super::ToolContext;

/// Why a call is not carried out, or failed on its way.
pub(super) enum Refused {
    /// What the model gave cannot be taken.
    Input(Box<InputProblem>),
    /// Something stands in the way, in words that say what to do instead.
    Text(String),
    /// The gate says no.
    Gate(Box<Decision>, Option<Box<Change>>),
    /// It was tried, and did not work.
    Failed(String, Option<Box<Decision>>),
}

impl Refused {
    pub(super) fn text(text: String) -> Self {
        Self::Text(text)
    }

    pub(super) fn into_result(self) -> ToolResult {
        match self {
            Self::Input(problem) => ToolResult::refused(problem.to_string()),
            Self::Text(text) => ToolResult::refused(text),
            Self::Gate(decision, change) => {
                let result = ToolResult::refused(decision.to_string()).by(decision);
                ToolResult { change, ..result }
            }
            Self::Failed(text, decision) => {
                ToolResult { outcome: Outcome::Failed, decision, ..ToolResult::done(text) }
            }
        }
    }
}

impl From<InputProblem> for Refused {
    fn from(problem: InputProblem) -> Self {
        Self::Input(Box::new(problem))
    }
}

impl From<Error> for Refused {
    /// A file that cannot be used, with what to do next where there is something.
    fn from(error: Error) -> Self {
        let next = match &error {
            Error::NotFound { .. } => "; look for it with `Glob`",
            Error::IsAFolder { .. } => "; list it with `Glob` and the pattern `*`",
            Error::Changed { .. } => "; read it again",
            _ => "",
        };
        Self::Text(format!("{error}{next}"))
    }
}

/// Asks the gate. What is not allowed is not done.
pub(super) fn decide(
    context: &ToolContext<'_>,
    action: &Action,
    change: Option<&Change>,
) -> Result<Box<Decision>, Refused> {
    let decision = Box::new(context.executor.decide(action, change));
    if decision.is_allowed() {
        return Ok(decision);
    }
    Err(Refused::Gate(decision, change.cloned().map(Box::new)))
}
