//! Why a call is not carried out.

use metier_files::Error;
use metier_policy::{Action, Decision};
use metier_runtime::{InputProblem, Outcome, Plan, ToolResult};

/// Why a call is not carried out, or failed on its way.
pub(super) enum Refused {
    /// What the model gave cannot be taken.
    Input(Box<InputProblem>),
    /// Something stands in the way, in words that say what to do instead.
    Text(String),
    /// The gate says no.
    Gate(Box<Decision>),
    /// It was tried, and did not work.
    Failed(String),
}

/// What planning a call gives.
pub(super) type Planned<'a> = Result<Plan<'a>, Refused>;

impl Refused {
    pub(super) fn into_result(self) -> ToolResult {
        match self {
            Self::Input(problem) => ToolResult::refused(problem.to_string()),
            Self::Text(text) => ToolResult::refused(text),
            Self::Gate(decision) => ToolResult::refused(decision.to_string()).by(decision),
            Self::Failed(text) => ToolResult { outcome: Outcome::Failed, ..ToolResult::done(text) },
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

/// Work that needs the permission for an action.
pub(super) fn planned<'a>(
    action: Action,
    work: impl FnOnce() -> Result<ToolResult, Refused> + Send + 'a,
) -> Plan<'a> {
    Plan::new(action, move |_| work().unwrap_or_else(Refused::into_result))
}
