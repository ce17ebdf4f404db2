//! A tool as it is written down: its name, what it is for, its fields, a call that works.

/// A tool as it is written down. Its definition for a model, the check of what a model gave and the words about a mistake are
/// all made of it, so they cannot drift apart.
#[derive(Debug)]
pub struct Form {
    /// What it is called.
    pub name: &'static str,
    /// What it does, in the words that a model reads.
    pub description: &'static str,
    /// What it takes, in the order in which a model is told of it.
    pub fields: &'static [Field],
    /// A call that works, for whoever has to mend one that does not.
    pub example: &'static str,
}

/// One field of a tool's input.
#[derive(Debug)]
pub struct Field {
    /// What it is called.
    pub name: &'static str,
    /// What other systems call the same field; taken where the name itself is not given, and never offered.
    pub also: &'static [&'static str],
    /// What it takes.
    pub kind: FieldKind,
    /// Whether it has to be there.
    pub is_required: bool,
    /// What it is for.
    pub description: &'static str,
}

/// What a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// The name of a skill.
    Skill,
    /// A text with something in it.
    Text,
    /// A text that is taken to the byte, and may be empty.
    Bytes,
    /// What a skill or a script is told: a text, or a list of words.
    Words,
    /// The same, or options by name.
    Options,
    /// A whole number, at least this.
    Number {
        /// The smallest that is taken.
        least: u64,
        /// What holds where none is given.
        default: u64,
    },
    /// True or false; false where nothing is given.
    Flag,
    /// One of these; the first where none is given.
    Choice(&'static [&'static str]),
    /// Short texts.
    Texts,
    /// References, each with a reason.
    References,
}

impl Field {
    /// A field that has to be there.
    pub const fn required(name: &'static str, kind: FieldKind, description: &'static str) -> Self {
        Self { name, also: &[], kind, is_required: true, description }
    }

    /// A field that need not be there.
    pub const fn optional(name: &'static str, kind: FieldKind, description: &'static str) -> Self {
        Self { name, also: &[], kind, is_required: false, description }
    }

    /// The same field, which other systems call otherwise.
    #[must_use]
    pub const fn or(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    /// Whether this is what somebody calls by a name.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name || self.also.contains(&name)
    }
}
