//! What a skill says under a key, for those who treat all keys alike.

use super::{Argument, Context, Description, Requires, Spanned, UserOnly};
use crate::name::SkillName;
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

/// One line for each type of field.
macro_rules! key_fields {
    ($($type:ty: $field:ident => $value:expr;)+) => {
        $(impl KeyField for $type {
            fn key_value(&self) -> Option<KeyValue<'_>> {
                let $field = self;
                $value
            }
        })+
    };
}

key_fields! {
    SkillName: name => Some(KeyValue::Text(name.as_str()));
    Description: description => Some(KeyValue::Text(description.text()));
    // Whether the user can start it, which holds unless something else is written.
    bool: is_allowed => (!is_allowed).then_some(KeyValue::Boolean(false));
    Option<UserOnly>: why => (*why == Some(UserOnly::Declared)).then_some(KeyValue::Boolean(true));
    Option<bool>: is_so => is_so.map(KeyValue::Boolean);
    Option<Spanned<String>>: text => text.as_ref().map(|text| KeyValue::Text(&text.value));
    Option<Spanned<NonZeroU32>>: number => number.as_ref().map(|number| KeyValue::Number(number.value));
    Vec<String>: texts => (!texts.is_empty()).then_some(KeyValue::Texts(texts));
    Option<Spanned<Vec<ToolPattern>>>: tools => tools.as_ref().map(KeyValue::Tools);
    Vec<Argument>: arguments => (!arguments.is_empty()).then_some(KeyValue::Arguments(arguments));
    Context: context => match context {
        Context::Inline => None,
        Context::Fork => Some(KeyValue::Text("fork")),
        Context::Note(note) => Some(KeyValue::Text(note)),
    };
    Option<Requires>: requires => requires.as_ref().map(KeyValue::Requires);
    Option<Value>: written => written.as_ref().map(KeyValue::Written);
}
