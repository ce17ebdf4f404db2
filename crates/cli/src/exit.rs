//! How a run ends, as other programs see it. The numbers are part of the command line and never change.

use std::process::ExitCode;

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It could answer.
    Fine,
    /// It could not, or what was asked for is not there.
    Failed,
    /// It was asked in a way that makes no sense.
    Usage,
    /// It needs a yes, and nobody was there to give it, or the answer was no.
    NeedsYes,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NeedsYes => 4,
        })
    }
}
