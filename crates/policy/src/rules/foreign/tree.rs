//! JSON with every key that was written, also one that was written twice.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// A JSON value as far as rules need it. The usual one keeps the last of two equal keys, and a second, empty `deny`
/// would then take back the first without a word.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Tree {
    // The first that fits is taken, and an empty object fits null as well.
    Map(#[serde(deserialize_with = "entries")] Vec<(String, Tree)>),
    List(Vec<Tree>),
    Text(String),
    Bool(bool),
    Null,
    Number(IgnoredAny),
}

impl Tree {
    /// The kind, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }
}

/// The entries of an object as they were written.
fn entries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Tree)>, D::Error> {
    struct Entries;

    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<(String, Tree)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }

    deserializer.deserialize_map(Entries)
}
