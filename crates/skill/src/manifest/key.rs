//! The keys metier knows: one table with everything that is said about each.

use super::Manifest;
use super::key_value::{KeyField, KeyValue};
use super::typing::Typing;
use crate::yaml::Entry;

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
    pub(super) read: for<'a> fn(&mut Typing<'_, 'a>, Entry<'a>),
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

/// A key with a field of its own. Its value is read by a method of `Reading`, and kept among the unknown ones where it does not
/// fit; or it is read by a method of `Typing`, which sees to that itself.
macro_rules! key {
    (typing.$read:ident => $($field:ident).+, $($row:tt)+) => {
        key!(|typing, entry| typing.$read(entry); $($field).+; $($row)+)
    };
    ($read:ident => $($field:ident).+, $($row:tt)+) => {
        key!(
            |typing, entry| {
                typing.fields.$($field).+ = typing.reading.$read(&entry.key, &entry.value);
                typing.keep_misfit(entry);
            };
            $($field).+; $($row)+
        )
    };
    ($read:expr; $($field:ident).+; $takes:ident, $name:literal, $example:literal, $summary:literal) => {
        ManifestKey {
            name: $name,
            aliases: &[],
            takes: KeyType::$takes,
            summary: $summary,
            example: $example,
            without: None,
            read: $read,
            value: |manifest| manifest.$($field).+.key_value(),
        }
    };
}

impl ManifestKey {
    /// Every key, in the order in which people write them.
    pub const ALL: &[Self] = &[
        key!(typing.name => name, Name, "name", "pdf-tools",
            "What the skill is called; the same as its folder."),
        key!(typing.description => description, Description, "description",
            "Fills PDF forms. Use when a form is to be filled.",
            "What it does and when to use it. This is what a model chooses by."),
        key!(text => when_to_use, Text, "when_to_use", "When a form is to be filled.",
            "More about when to use it; shown behind the description.")
        .or(&["whenToUse", "when-to-use"])
        .without("the model does not see when to use the skill"),
        key!(text => more.license, Text, "license", "MIT", "The licence of the skill."),
        key!(typing.compatibility => more.compatibility, Compatibility, "compatibility", "Needs Python 3.12",
            "What it needs around it, for people. Never decides whether it loads."),
        key!(typing.metadata => more.metadata, Map, "metadata", "{author: docs-team}",
            "Anything else; `metadata.version` is the version where `version` is absent."),
        key!(text => version, TextOrNumber, "version", "'1.10'",
            "The version; compared as a semantic version where it is one."),
        key!(tools => more.allowed_tools, Tools, "allowed-tools", "Read Bash(git:*)",
            "The tools the skill uses, such as `Read Bash(git:*)`.")
        .or(&["allowed_tools"]),
        key!(tools => more.tools, Tools, "tools", "[Read, Grep]",
            "The only tools that may be called while the skill is active."),
        key!(disallowed_tools => more.disallowed_tools, Tools, "disallowed-tools", "WebFetch",
            "Tools that are taken away while the skill is active."),
        key!(text => more.model, Text, "model", "fast",
            "The model for this skill: an alias, `provider/model`, or `inherit`.")
        .without("the skill runs with the session's model"),
        key!(text => more.effort, Text, "effort", "high", "How hard the model should think.")
            .without("the skill runs with the session's effort"),
        key!(max_turns => more.max_turns, Count, "maxTurns", "20", "The most turns for this skill.")
            .or(&["max-turns", "max_turns"])
            .without("only the session's limit of turns holds"),
        key!(texts => more.tags, List, "tags", "[forms, pdf]",
            "Labels for memory records and activity entries.")
        .without("records are not tagged"),
        key!(context => more.context, Text, "context", "fork",
            "`inline` (the default), `fork`, or a note that is shown on activation."),
        key!(text => more.agent, Text, "agent", "reviewer", "Which agent definition runs a fork.")
            .without("no agent definition is used"),
        key!(boolean => more.background, Boolean, "background", "true",
            "Whether the parent goes on while a fork runs.")
        .without("whether to wait is not up to the skill"),
        key!(argument_hint => more.argument_hint, Text, "argument-hint", "'[pr-number]'",
            "What to write behind the name, such as `\"[pr-number]\"`.")
        .without("no hint is shown beside the name"),
        key!(arguments => more.arguments, Arguments, "arguments", "[pr]",
            "Names of the arguments, used as `$name` in the body.")
        .without("named arguments are not replaced in the body"),
        key!(boolean => user_invocable, Boolean, "user-invocable", "false",
            "Whether the user can start it as `/name`.")
        .or(&["user_invocable"]),
        key!(typing.disable_model_invocation => user_only, Boolean, "disable-model-invocation", "true",
            "Whether only the user can start it.")
        .or(&["disableModelInvocation", "disable_model_invocation"]),
        key!(globs => more.paths, List, "paths", "['docs/**']",
            "Globs; the skill is offered only when the work touches a matching file.")
        .without("the skill is offered whatever the work touches"),
        key!(typing.hooks => more.hooks, Map, "hooks", "{PreToolUse: []}",
            "Commands that run while the skill is active, for a trusted skill only.")
        .without("its hooks do not run"),
        key!(text => more.shell, Text, "shell", "bash", "The shell for injected commands.")
            .without("the shell is the client's choice"),
        key!(requires => more.requires, Requires, "requires", "{bins: [git]}",
            "What must be there: `bins`, `anyBins`, `env`, `os`, `tools`.")
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

/// Whether a key is one metier knows, in any spelling.
pub(crate) fn is_known_key(written: &str) -> bool {
    ManifestKey::position(written).is_some()
}
