//! Who asks for a skill, and which skills each of them cannot have.

use metier_catalog::{Entry, State};
use metier_skill::{Manifest, UserOnly};

/// Who asks for a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Invoker {
    /// The model, by a tool.
    Model,
    /// The user, by `/name` or `$name`: the text goes to the model.
    User,
    /// The program that holds the conversation, by the API.
    Caller,
    /// The agent's file, which names it.
    Preload,
    /// The user, who looks at what would happen: `metier use`. Nothing goes to a model.
    Viewer,
}

/// Why an invoker cannot have a skill.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvocationError {
    /// The configuration turned it off.
    #[error("the skill `{0}` is turned off in the configuration; `metier explain {0}` says where")]
    Off(String),
    /// `.disabled.json` names it.
    #[error("the skill `{0}` is disabled; `metier enable {0}` turns it on")]
    Disabled(String),
    /// Its project is not trusted.
    #[error("the skill `{0}` is not trusted; look at it with `metier use {0}` and then run `metier trust`")]
    Untrusted(String),
    /// It lies in another skill's folder.
    #[error("the skill `{0}` lies inside another skill's folder and is a part of that one")]
    Nested(String),
    /// It is for the user.
    #[error("the skill `{0}` is for the user to start; ask the user to type `/{0}`")]
    ForTheUser(String),
    /// It is for the model.
    #[error(
        "the skill `{0}` has no `/{0}`, since it says `user-invocable: false`; `metier use {0}` shows it"
    )]
    ForTheModel(String),
    /// It is for neither.
    #[error("the skill `{0}` is closed to the model and has no `/{0}`; only `metier use {0}` reaches it")]
    ForNobody(String),
}

impl Invoker {
    /// Refuses what this path has no way to. Both the catalogue and the file as it is now have a say: whoever closed a skill
    /// since the catalogue was made has closed it.
    pub(crate) fn check(self, entry: &Entry, manifest: &Manifest) -> Result<(), InvocationError> {
        let name = || entry.name().to_string();
        let is_viewer = self == Self::Viewer;
        match entry.state() {
            State::Off => return Err(InvocationError::Off(name())),
            State::Disabled => return Err(InvocationError::Disabled(name())),
            State::Untrusted if !is_viewer => return Err(InvocationError::Untrusted(name())),
            State::Nested if !is_viewer => return Err(InvocationError::Nested(name())),
            _ => {}
        }
        let for_user = manifest.user_only.is_some() || entry.state() == State::UserOnly;
        let for_model = !manifest.user_invocable;
        // A skill that merely lacks a description was not closed by anybody.
        let is_closed = manifest.user_only == Some(UserOnly::Declared) && for_model;
        match self {
            Self::Viewer => Ok(()),
            _ if is_closed => Err(InvocationError::ForNobody(name())),
            Self::Model if for_user => Err(InvocationError::ForTheUser(name())),
            Self::User if for_model => Err(InvocationError::ForTheModel(name())),
            Self::Model | Self::User | Self::Caller | Self::Preload => Ok(()),
        }
    }
}
