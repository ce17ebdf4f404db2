//! From a token to its value.

use std::borrow::Cow;

use super::rendered::Source;
use super::token::Token;
use super::values::{Folder, Resolver, VariableValue};

/// What a token becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resolved<'r> {
    /// This text.
    Value {
        text: Cow<'r, str>,
        source: Source,
        /// Whether something that the skill was started with is in it.
        gift: Gift,
    },
    /// Itself.
    Stays(Why),
}

/// Whether a value was given with the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gift {
    Given,
    Known,
}

/// Why a token stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// There is no argument at that place.
    NoArgument,
    /// There is no such folder.
    NoFolder(Folder),
    /// The variable is not declared.
    Undeclared,
    /// The variable must not be put into text.
    Sensitive,
    /// The variable is required and not set.
    Required,
}

impl Resolver<'_> {
    /// The value of a token, if it has one. Nothing of it is ever looked at again.
    pub(crate) fn resolve(&self, token: Token<'_>) -> Resolved<'_> {
        let (text, source, gift) = match token {
            Token::All if self.values.arguments.is_empty() => known(self.text(), Source::Arguments),
            Token::All => (Cow::Borrowed(self.text()), Source::Arguments, Gift::Given),
            Token::At(place) | Token::Digit(place) | Token::Named(place) => match self.words().get(place) {
                Some(word) => (Cow::Borrowed(word.as_ref()), Source::Argument(place), Gift::Given),
                None => match token {
                    Token::Digit(_) => return Resolved::Stays(Why::NoArgument),
                    Token::Named(_) => {
                        let declared = self.values.declared.get(place);
                        let default = declared.and_then(|argument| argument.default.as_deref());
                        known(default.unwrap_or_default(), Source::Default(place))
                    }
                    _ => known("", Source::Argument(place)),
                },
            },
            Token::Folder(folder) => match self.folder(folder) {
                Some(path) => (path.to_string_lossy(), Source::Folder(folder), Gift::Known),
                None => return Resolved::Stays(Why::NoFolder(folder)),
            },
            Token::Session => known(self.values.session, Source::Session),
            Token::Environment(name) => match self.variable(name) {
                None => return Resolved::Stays(Why::Undeclared),
                Some(VariableValue::Sensitive) => return Resolved::Stays(Why::Sensitive),
                Some(VariableValue::Required) => return Resolved::Stays(Why::Required),
                Some(VariableValue::Unset) => known("", Source::Environment),
                Some(VariableValue::Text(text)) => known(text, Source::Environment),
            },
        };
        Resolved::Value { text, source, gift }
    }
}

/// A value that was not given with the call.
fn known(text: &str, source: Source) -> (Cow<'_, str>, Source, Gift) {
    (Cow::Borrowed(text), source, Gift::Known)
}
