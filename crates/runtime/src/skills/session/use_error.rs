//! Why something of a skill cannot be used.

use metier_activation::ActivationError;
use metier_catalog::{ReferenceError, State};
use metier_exec::{PrepareError, RunError, SkillFoldersError, UnsetVariablesError};
use metier_policy::{Action, Decision};

use crate::skills::value_source::SourceError;

/// Why something of a skill cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UseError {
    /// Not a name.
    #[error(transparent)]
    Name(#[from] ReferenceError),
    /// No usable skill has the name.
    #[error("`{name}`: {why}")]
    Unknown {
        /// The name.
        name: String,
        /// Why none is found.
        why: String,
    },
    /// It is switched off.
    #[error("`{name}` is {state}")]
    Off {
        /// The skill.
        name: String,
        /// Its state.
        state: State,
    },
    /// It was not activated.
    #[error(transparent)]
    Activation(#[from] ActivationError),
    /// It did not run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Its packages were not installed.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// It is gone since the session looked.
    #[error("the skill is not there any more")]
    Gone,
    /// Its folder is gone.
    #[error("`{name}` is gone: {source}")]
    FolderGone {
        /// The skill.
        name: String,
        /// Why the folder cannot be opened.
        source: metier_files::Error,
    },
    /// Its file cannot be read.
    #[error("the skill `{0}` cannot be read any more")]
    Unreadable(String),
    /// A server's skill could not be fetched.
    #[error(transparent)]
    Fetch(#[from] metier_catalog::NotBrought),
    /// Its data folder cannot be made.
    #[error(transparent)]
    Folders(#[from] SkillFoldersError),
    /// The project cannot be read.
    #[error("the project cannot be looked over: {0}")]
    Project(metier_files::Error),
    /// The session has no project.
    #[error("there is no project to run it in")]
    NoProject,
    /// A required variable has no value.
    #[error(transparent)]
    Variables(#[from] UnsetVariablesError),
    /// Its secrets cannot be read.
    #[error("the secrets of `{name}` cannot be read: {source}")]
    Secrets {
        /// The skill.
        name: String,
        /// Why not.
        source: SourceError,
    },
    /// A need that the program's user gave cannot be read.
    #[error("{0}")]
    Need(String),
    /// Nothing can be contained.
    #[error("nothing can run here: the program does not begin with `metier_runtime::begin`")]
    NoHelper,
    /// It needs an approval that comes later.
    #[error("{0}")]
    Waiting(Box<Decision>),
    /// The same text is in the conversation already.
    #[error("{0}")]
    AlreadyActive(String),
}

impl UseError {
    /// What was not allowed, and the decision.
    pub fn refused(&self) -> Option<(&Action, &Decision)> {
        match self {
            Self::Activation(ActivationError::Gate { action, decision })
            | Self::Run(RunError::Gate { action, decision })
            | Self::Prepare(PrepareError::Gate { action, decision }) => Some((action, decision)),
            _ => None,
        }
    }
}
