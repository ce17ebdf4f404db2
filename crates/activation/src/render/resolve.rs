//! From a token to its value.

use std::borrow::Cow;

use metier_exec::VariableValue;

use super::rendered::PieceSource;
use super::token::BodyToken;
use super::values::{Resolver, TokenFolder};

/// What a token becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resolved<'r> {
    /// This text.
    Value {
        text: Cow<'r, str>,
        source: PieceSource,
        /// Whether something that the skill was started with is in it.
        argument_use: ArgumentUse,
    },
    /// Itself.
    Stays(StayReason),
}

/// Whether a value comes from the arguments of the skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentUse {
    Used,
    Unused,
}

/// Why a token stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StayReason {
    /// There is no argument at that place.
    NoArgument,
    /// There is no such folder.
    NoFolder(TokenFolder),
    /// The variable is not declared.
    Undeclared,
    /// The variable must not be put into text.
    Sensitive,
    /// The variable is required and not set.
    Required,
}

impl Resolver<'_> {
    /// The value of a token, if it has one. Nothing of it is ever looked at again.
    pub(crate) fn resolve(&self, token: BodyToken<'_>) -> Resolved<'_> {
        let (text, source, argument_use) = match token {
            BodyToken::All if self.values.arguments.is_empty() => known(self.text(), PieceSource::Arguments),
            BodyToken::All => (Cow::Borrowed(self.text()), PieceSource::Arguments, ArgumentUse::Used),
            BodyToken::At(place) | BodyToken::Digit(place) | BodyToken::Named(place) => {
                match self.words().get(place) {
                    Some(word) => {
                        (Cow::Borrowed(word.as_ref()), PieceSource::Argument(place), ArgumentUse::Used)
                    }
                    None => match token {
                        BodyToken::Digit(_) => return Resolved::Stays(StayReason::NoArgument),
                        BodyToken::Named(_) => {
                            let declared = self.values.declared.get(place);
                            let default = declared.and_then(|argument| argument.default.as_deref());
                            known(default.unwrap_or_default(), PieceSource::Default(place))
                        }
                        _ => known("", PieceSource::Argument(place)),
                    },
                }
            }
            BodyToken::Folder(folder) => match self.folder(folder) {
                Some(path) => (path.to_string_lossy(), PieceSource::Folder(folder), ArgumentUse::Unused),
                None => return Resolved::Stays(StayReason::NoFolder(folder)),
            },
            BodyToken::Session => known(self.values.session, PieceSource::Session),
            BodyToken::Environment(name) => match self.variable(name) {
                None => return Resolved::Stays(StayReason::Undeclared),
                Some(VariableValue::Sensitive) => return Resolved::Stays(StayReason::Sensitive),
                Some(VariableValue::Required) => return Resolved::Stays(StayReason::Required),
                Some(VariableValue::Unset) => known("", PieceSource::Environment),
                Some(VariableValue::Text(text)) => known(text, PieceSource::Environment),
            },
        };
        Resolved::Value { text, source, argument_use }
    }
}

/// A value that was not given with the call.
fn known(text: &str, source: PieceSource) -> (Cow<'_, str>, PieceSource, ArgumentUse) {
    (Cow::Borrowed(text), source, ArgumentUse::Unused)
}
