//! The tree: scalars as text, sequences, mappings in the order they were written.

use super::schema;
use metier_diagnostic::Span;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use std::borrow::Cow;

/// How a scalar was written. A plain `yes` may be a boolean, a quoted one is text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In `'…'`.
    SingleQuoted,
    /// In `"…"`.
    DoubleQuoted,
    /// A `|` block.
    Literal,
    /// A `>` block.
    Folded,
}

/// One value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// The bytes of the file it was written in.
    pub span: Span,
    /// What it is.
    pub kind: Kind<'a>,
}

/// A node that owns its text, for keeping.
pub type Value = Node<'static>;

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// Text, exactly as written, with quotes and folding resolved.
    Scalar {
        /// The text.
        text: Cow<'a, str>,
        /// How it was written.
        style: Style,
    },
    /// A list.
    Sequence(Vec<Node<'a>>),
    /// Keys and values in the order they were written; a repeated key is still there.
    Mapping(Vec<Entry<'a>>),
}

/// One key of a mapping with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The key's text.
    pub key: Cow<'a, str>,
    /// Where the key stands.
    pub key_span: Span,
    /// What it has.
    pub value: Node<'a>,
}

impl<'a> Node<'a> {
    /// The text of a scalar, whatever its style.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            Kind::Sequence(_) | Kind::Mapping(_) => None,
        }
    }

    /// Whether this is YAML's null: nothing, `~`, or a plain `null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, style: Style::Plain } if schema::is_null(text))
    }

    /// Whether this is text by YAML's core schema: not null, a boolean, a number or a collection.
    pub fn is_text(&self) -> bool {
        match &self.kind {
            Kind::Scalar { text, style: Style::Plain } => schema::is_text(text),
            Kind::Scalar { .. } => true,
            Kind::Sequence(_) | Kind::Mapping(_) => false,
        }
    }

    /// The entries of a mapping.
    pub fn entries(&self) -> Option<&[Entry<'a>]> {
        match &self.kind {
            Kind::Mapping(entries) => Some(entries),
            Kind::Scalar { .. } | Kind::Sequence(_) => None,
        }
    }

    /// The items of a sequence.
    pub fn items(&self) -> Option<&[Node<'a>]> {
        match &self.kind {
            Kind::Sequence(items) => Some(items),
            Kind::Scalar { .. } | Kind::Mapping(_) => None,
        }
    }

    /// The value of a key, the first one where it is repeated.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.entries()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The same node with text of its own.
    pub fn into_owned(self) -> Value {
        let kind = match self.kind {
            Kind::Scalar { text, style } => Kind::Scalar { text: Cow::Owned(text.into_owned()), style },
            Kind::Sequence(items) => Kind::Sequence(items.into_iter().map(Node::into_owned).collect()),
            Kind::Mapping(entries) => Kind::Mapping(entries.into_iter().map(Entry::into_owned).collect()),
        };
        Node { span: self.span, kind }
    }

    /// Moves every span of the tree, for a tree that was parsed from a repaired copy of its file.
    pub fn map_spans(&mut self, map: &impl Fn(Span) -> Span) {
        self.span = map(self.span);
        match &mut self.kind {
            Kind::Scalar { .. } => {}
            Kind::Sequence(items) => items.iter_mut().for_each(|item| item.map_spans(map)),
            Kind::Mapping(entries) => {
                for entry in entries {
                    entry.key_span = map(entry.key_span);
                    entry.value.map_spans(map);
                }
            }
        }
    }
}

impl Entry<'_> {
    /// The same entry with text of its own.
    pub fn into_owned(self) -> Entry<'static> {
        Entry {
            key: Cow::Owned(self.key.into_owned()),
            key_span: self.key_span,
            value: self.value.into_owned(),
        }
    }
}

/// For machines: YAML's core types where JSON can carry them without changing the text, else the text. `1.10` stays
/// `"1.10"`, because the number would come out as `1.1`.
impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            Kind::Scalar { text, style: Style::Plain } => schema::serialize(text, serializer),
            Kind::Scalar { text, .. } => serializer.serialize_str(text),
            Kind::Sequence(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Kind::Mapping(entries) => {
                let mut map = serializer.serialize_map(None)?;
                for (at, entry) in entries.iter().enumerate() {
                    // The first of a repeated key wins, here as everywhere.
                    if !entries[..at].iter().any(|earlier| earlier.key == entry.key) {
                        map.serialize_entry(&entry.key, &entry.value)?;
                    }
                }
                map.end()
            }
        }
    }
}
