//! The keys metier knows: one table with everything that is said about each.

use super::key_value::{KeyField, KeyValue};
use super::typing::Typing;
use super::{Manifest, Spanned, UserOnly};
use crate::yaml::Node;

/// A key of a skill's frontmatter. Whatever parses, shows, describes or compares keys is derived from [`ManifestKey::ALL`].
pub struct ManifestKey {
    /// The spelling that most clients read.
    pub name: &'static str,
    /// The other spellings that are understood.
    pub aliases: &'static [&'static str],
    /// What its value may be.
    pub takes: KeyType,
    /// What it is for, in one sentence.
    pub summary: &'static str,
    /// A value as it is written behind the key.
    pub example: &'static str,
    /// What happens in a client that does not act on it, where something does whatever the value is.
    pub(crate) without: Option<&'static str>,
    pub(super) read: ReadKey,
    value: fn(&Manifest) -> Option<KeyValue<'_>>,
}

/// What the value of a key may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// The name of a skill.
    Name,
    /// The description of a skill.
    Description,
    /// A text.
    Text,
    /// A text, or a number that is taken as a text.
    TextOrNumber,
    /// True or false.
    Boolean,
    /// A whole number of at least 1.
    Count,
    /// Texts, or one text with commas.
    List,
    /// Tools, as a list or as one text.
    Tools,
    /// A mapping.
    Map,
    /// A text, a list or a mapping that is shown as one text.
    Compatibility,
    /// Names, or mappings with a name.
    Arguments,
    /// What must be there for the skill to work.
    Requires,
}

/// How the value of a key is read.
#[derive(Clone, Copy)]
pub(super) enum ReadKey {
    /// By its type; a value that does not fit is kept among the unknown ones.
    Typed(fn(&mut Typing<'_, '_>, &str, &Node<'_>)),
    /// Whatever it is.
    Any(for<'a> fn(&mut Typing<'_, 'a>, Node<'a>)),
}

/// A key with a field of its own, and the method of `Reading` that reads it.
macro_rules! field {
    ($read:ident => $($field:ident).+, $takes:ident, $name:literal, $example:literal, $summary:literal) => {
        key(
            KeyType::$takes,
            $name,
            $example,
            $summary,
            ReadKey::Typed(|typing, key, node| typing.fields.$($field).+ = typing.reading.$read(key, node)),
            |manifest| manifest.$($field).+.key_value(),
        )
    };
}

impl ManifestKey {
    /// Every key, in the order in which people write them.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the path of a method stands for one lifetime of its type, a closure for all of them"
    )]
    pub const ALL: &[Self] = &[
        key(
            KeyType::Name,
            "name",
            "pdf-tools",
            "What the skill is called; the same as its folder.",
            ReadKey::Any(|typing, node| typing.name(node)),
            |manifest| Some(KeyValue::Text(manifest.name.as_str())),
        ),
        key(
            KeyType::Description,
            "description",
            "Fills PDF forms. Use when a form is to be filled.",
            "What it does and when to use it. This is what a model chooses by.",
            ReadKey::Typed(|typing, _, node| typing.description(node)),
            |manifest| Some(KeyValue::Text(manifest.description.text())),
        ),
        field!(text => when_to_use, Text, "when_to_use", "When a form is to be filled.",
            "More about when to use it; shown behind the description.")
        .or(&["whenToUse", "when-to-use"])
        .without("the model does not see when to use the skill"),
        field!(text => more.license, Text, "license", "MIT", "The licence of the skill."),
        key(
            KeyType::Compatibility,
            "compatibility",
            "Needs Python 3.12",
            "What it needs around it, for people. Never decides whether it loads.",
            ReadKey::Any(|typing, node| typing.compatibility(node)),
            |manifest| manifest.more.compatibility.key_value(),
        ),
        key(
            KeyType::Map,
            "metadata",
            "{author: docs-team}",
            "Anything else; `metadata.version` is the version where `version` is absent.",
            ReadKey::Any(|typing, node| typing.metadata(node)),
            |manifest| manifest.more.metadata.key_value(),
        ),
        field!(text => version, TextOrNumber, "version", "'1.10'",
            "The version; compared as a semantic version where it is one."),
        field!(tools => more.allowed_tools, Tools, "allowed-tools", "Read Bash(git:*)",
            "The tools the skill uses, such as `Read Bash(git:*)`.")
        .or(&["allowed_tools"]),
        field!(tools => more.tools, Tools, "tools", "[Read, Grep]",
            "The only tools that may be called while the skill is active."),
        field!(disallowed_tools => more.disallowed_tools, Tools, "disallowed-tools", "WebFetch",
            "Tools that are taken away while the skill is active."),
        field!(text => more.model, Text, "model", "fast",
            "The model for this skill: an alias, `provider/model`, or `inherit`.")
        .without("the skill runs with the session's model"),
        field!(text => more.effort, Text, "effort", "high", "How hard the model should think.")
            .without("the skill runs with the session's effort"),
        field!(max_turns => more.max_turns, Count, "maxTurns", "20", "The most turns for this skill.")
            .or(&["max-turns", "max_turns"])
            .without("only the session's limit of turns holds"),
        field!(texts => more.tags, List, "tags", "[forms, pdf]",
            "Labels for memory records and activity entries.")
        .without("records are not tagged"),
        field!(context => more.context, Text, "context", "fork",
            "`inline` (the default), `fork`, or a note that is shown on activation."),
        field!(text => more.agent, Text, "agent", "reviewer", "Which agent definition runs a fork.")
            .without("no agent definition is used"),
        field!(boolean => more.background, Boolean, "background", "true",
            "Whether the parent goes on while a fork runs.")
        .without("whether to wait is not up to the skill"),
        field!(argument_hint => more.argument_hint, Text, "argument-hint", "'[pr-number]'",
            "What to write behind the name, such as `\"[pr-number]\"`.")
        .without("no hint is shown beside the name"),
        field!(arguments => more.arguments, Arguments, "arguments", "[pr]",
            "Names of the arguments, used as `$name` in the body.")
        .without("named arguments are not replaced in the body"),
        key(
            KeyType::Boolean,
            "user-invocable",
            "false",
            "Whether the user can start it as `/name`.",
            ReadKey::Typed(|typing, key, node| {
                typing.fields.user_invocable = typing.reading.boolean(key, node);
            }),
            |manifest| (!manifest.user_invocable).then_some(KeyValue::Boolean(false)),
        )
        .or(&["user_invocable"]),
        key(
            KeyType::Boolean,
            "disable-model-invocation",
            "true",
            "Whether only the user can start it.",
            ReadKey::Typed(|typing, key, node| {
                let value = typing.reading.boolean(key, node);
                typing.fields.disable_model_invocation =
                    value.map(|value| Spanned { value, span: node.span });
            }),
            |manifest| (manifest.user_only == Some(UserOnly::Declared)).then_some(KeyValue::Boolean(true)),
        )
        .or(&["disableModelInvocation", "disable_model_invocation"]),
        field!(globs => more.paths, List, "paths", "['docs/**']",
            "Globs; the skill is offered only when the work touches a matching file.")
        .without("the skill is offered whatever the work touches"),
        key(
            KeyType::Map,
            "hooks",
            "{PreToolUse: []}",
            "Commands that run while the skill is active, for a trusted skill only.",
            ReadKey::Any(|typing, node| typing.hooks(node)),
            |manifest| manifest.more.hooks.key_value(),
        )
        .without("its hooks do not run"),
        field!(text => more.shell, Text, "shell", "bash", "The shell for injected commands.")
            .without("the shell is the client's choice"),
        key(
            KeyType::Requires,
            "requires",
            "{bins: [git]}",
            "What must be there: `bins`, `anyBins`, `env`, `os`, `tools`.",
            // It counts before `metadata.openclaw.requires`, whichever is written first.
            ReadKey::Typed(|typing, key, node| typing.fields.requires = typing.reading.requires(key, node)),
            |manifest| manifest.more.requires.key_value(),
        )
        .without("nothing checks that what it needs is there"),
    ];

    /// The key that is written so, in any of its spellings.
    pub fn of(written: &str) -> Option<&'static Self> {
        Self::position(written).map(|at| &Self::ALL[at])
    }

    /// Where the key stands in the table.
    pub(super) fn position(written: &str) -> Option<usize> {
        Self::ALL.iter().position(|key| key.spellings().any(|spelling| spelling == written))
    }

    /// Its name and every other spelling.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// What a skill says under this key; `None` where it says nothing that does not hold anyway.
    pub fn value<'a>(&self, manifest: &'a Manifest) -> Option<KeyValue<'a>> {
        (self.value)(manifest)
    }

    const fn or(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    const fn without(mut self, what: &'static str) -> Self {
        self.without = Some(what);
        self
    }
}

const fn key(
    takes: KeyType,
    name: &'static str,
    example: &'static str,
    summary: &'static str,
    read: ReadKey,
    value: fn(&Manifest) -> Option<KeyValue<'_>>,
) -> ManifestKey {
    ManifestKey { name, aliases: &[], takes, summary, example, without: None, read, value }
}

/// Whether a key is one metier knows, in any spelling.
pub(crate) fn is_known_key(written: &str) -> bool {
    ManifestKey::position(written).is_some()
}
