//! What a model gave to a tool.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The arguments of a tool call: an object, or what the model wrote instead of one.
///
/// The text is kept as it came. It goes back to the provider in the next turn, and a provider's cache knows only the
/// bytes that its model wrote.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// An object.
    Object {
        /// As the model wrote it.
        raw: Arc<str>,
        /// What it says.
        fields: Arc<Map<String, Value>>,
    },
    /// No object. Whoever runs tools says so to the model, which then tries again.
    Malformed {
        /// As the model wrote it.
        raw: Arc<str>,
        /// What is wrong with it.
        why: String,
    },
}

impl Arguments {
    /// Reads what a model wrote. Nothing at all and `null` mean no arguments: several servers write a call without
    /// arguments like that.
    pub fn read(raw: &str) -> Self {
        let text = raw.trim();
        if text.is_empty() || text == "null" {
            return Self::Object { raw: "{}".into(), fields: Arc::default() };
        }
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(fields)) => Self::Object { raw: text.into(), fields: Arc::new(fields) },
            Ok(other) => Self::Malformed {
                raw: raw.into(),
                why: format!("the arguments are {}, not an object", kind(&other)),
            },
            Err(error) => {
                Self::Malformed { raw: raw.into(), why: format!("the arguments are not JSON: {error}") }
            }
        }
    }

    /// What the model wrote.
    pub fn raw(&self) -> &str {
        match self {
            Self::Object { raw, .. } | Self::Malformed { raw, .. } => raw,
        }
    }

    /// The object, if it is one.
    pub fn fields(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Object { fields, .. } => Some(fields),
            Self::Malformed { .. } => None,
        }
    }

    /// An object in any case, as JSON, for a history that goes back to a provider. Several servers fail as a whole when
    /// an earlier call has arguments that are none, so these stand inside of an object.
    pub(crate) fn sendable(&self) -> Arc<str> {
        match self {
            Self::Object { raw, .. } => Arc::clone(raw),
            Self::Malformed { raw, .. } => {
                serde_json::json!({ "malformed_arguments": raw.as_ref() }).to_string().into()
            }
        }
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.raw())
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::read(&String::deserialize(deserializer)?))
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_is_kept_with_the_reason() {
        let check = |raw: &str, expect: Result<&str, &str>| match (Arguments::read(raw), expect) {
            (Arguments::Object { raw: kept, .. }, Ok(text)) => assert_eq!(&*kept, text),
            (Arguments::Malformed { raw: kept, why }, Err(text)) => {
                assert_eq!(&*kept, raw);
                assert!(why.contains(text), "{why}");
            }
            (read, _) => panic!("{raw:?} was read as {read:?}"),
        };
        check(r#"{"b": 1, "a": 2}"#, Ok(r#"{"b": 1, "a": 2}"#));
        check("", Ok("{}"));
        check(" null ", Ok("{}"));
        check(r#"{"a": "#, Err("not JSON"));
        check("[1]", Err("a list"));
        check("\"x\"", Err("a text"));
        check("{} {}", Err("not JSON"));
    }

    #[test]
    fn a_history_goes_back_with_objects_only() {
        assert_eq!(&*Arguments::read(r#"{"a":1.50}"#).sendable(), r#"{"a":1.50}"#);
        assert_eq!(&*Arguments::read(r#"{"a"#).sendable(), r#"{"malformed_arguments":"{\"a"}"#);
    }

    #[test]
    fn depth_is_bounded_by_the_reader() {
        let deep = "[".repeat(100_000);
        assert!(Arguments::read(&deep).fields().is_none());
    }
}
