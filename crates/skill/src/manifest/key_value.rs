//! What a skill says under a key, for those who treat all keys alike.

use super::{Argument, Context, Requires, Spanned};
use crate::tools::ToolPattern;
use crate::yaml::Value;
use serde::{Serialize, Serializer};
use std::num::NonZeroU32;

/// The value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum KeyValue<'a> {
    /// A text.
    Text(&'a str),
    /// A number.
    Number(NonZeroU32),
    /// True or false.
    Boolean(bool),
    /// Texts.
    Texts(&'a [String]),
    /// Tools, as they are written.
    #[serde(serialize_with = "as_texts")]
    Tools(&'a Spanned<Vec<ToolPattern>>),
    /// Arguments.
    Arguments(&'a [Argument]),
    /// What must be there.
    Requires(&'a Requires),
    /// Anything else, as it is written.
    Written(&'a Value),
}

fn as_texts<S: Serializer>(tools: &Spanned<Vec<ToolPattern>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tools.value.iter().map(ToString::to_string))
}

/// A field of the manifest that has the value of a key; `None` where nothing was written that does not hold anyway.
pub(super) trait KeyField {
    fn key_value(&self) -> Option<KeyValue<'_>>;
}

impl KeyField for Option<Spanned<String>> {
    fn key_value(&self) -> Option<KeyValue<'_>> {
        self.as_ref().map(|text| KeyValue::Text(&text.value))
    }
}

impl KeyField for Option<Spanned<NonZeroU32>> {
    fn key_value(&self) -> Option<KeyValue<'_>> {
        self.as_ref().map(|number| KeyValue::Number(number.value))
    }
}

impl KeyField for Option<bool> {
    fn key_value(&self) -> Option<KeyValue<'_>> {
        self.map(KeyValue::Boolean)
    }
}

impl KeyField for Vec<String> {
    fn key_value(&self) -> Option<KeyValue<'_>> {
        (!self.is_empty()).then_some(KeyValue::Texts(self))
    }
}

impl KeyField for Option<Spanned<Vec<ToolPattern>>> {
    fn key_value(&self) -> Option<KeyValue<'_>> {
        self.as_ref().map(KeyValue::Tools)
    }
}

impl KeyField for Vec<Argument> {
    fn key_value(&self) -> Option<KeyValue<'_>> {
        (!self.is_empty()).then_some(KeyValue::Arguments(self))
    }
}

impl KeyField for Context {
    fn key_value(&self) -> Option<KeyValue<'_>> {
        match self {
            Self::Inline => None,
            Self::Fork => Some(KeyValue::Text("fork")),
            Self::Note(note) => Some(KeyValue::Text(note)),
        }
    }
}

impl KeyField for Option<Requires> {
    fn key_value(&self) -> Option<KeyValue<'_>> {
        self.as_ref().map(KeyValue::Requires)
    }
}

impl KeyField for Option<Value> {
    fn key_value(&self) -> Option<KeyValue<'_>> {
        self.as_ref().map(KeyValue::Written)
    }
}
