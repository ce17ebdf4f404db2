//! The typed manifest: what a frontmatter says, key by key, with the place of each.

mod key;
mod key_value;
mod naming;
mod placeholder;
mod reading;
mod typing;
mod value;

use crate::name::SkillName;
use crate::tools::ToolPattern;
use crate::yaml::Value;
use metier_diagnostic::Span;
use serde::Serialize;
use std::num::NonZeroU32;

pub(crate) use key::is_known_key;
pub use key::{KeyType, ManifestKey};
pub use key_value::KeyValue;
pub(crate) use typing::{Keep, Typed, type_tree};
pub use typing::{MAX_COMPATIBILITY, MAX_DESCRIPTION};

/// A value and where it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its bytes in the file.
    pub span: Span,
}

/// What a skill says of itself. Every key of the specification is here, and every other one in [`More::extra`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The name it is called by.
    pub name: SkillName,
    /// Where the name stands; `None` when it is the folder's.
    pub name_span: Option<Span>,
    /// The written name, where it cannot be called.
    pub title: Option<String>,
    /// What it is for.
    pub description: Description,
    /// When to use it; shown behind the description.
    pub when_to_use: Option<Spanned<String>>,
    /// `version`, else `metadata.version`; exactly as written.
    pub version: Option<Spanned<String>>,
    /// Why the model is not offered the skill, if it is not.
    pub user_only: Option<UserOnly>,
    /// `user-invocable`: whether `/name` exists.
    pub user_invocable: bool,
    /// Everything that most skills do not say.
    pub more: Box<More>,
}

/// The keys that most skills do not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct More {
    /// `license`.
    pub license: Option<Spanned<String>>,
    /// `compatibility` as one text; the raw value is in [`More::compatibility_raw`].
    pub compatibility: Option<Spanned<String>>,
    /// `compatibility` as written.
    pub compatibility_raw: Option<Value>,
    /// `metadata` as written.
    pub metadata: Option<Value>,
    /// `allowed-tools`; `None` inherits, an empty list allows none.
    pub allowed_tools: Option<Spanned<Vec<ToolPattern>>>,
    /// `tools`; `None` inherits, an empty list allows none.
    pub tools: Option<Spanned<Vec<ToolPattern>>>,
    /// `disallowed-tools`.
    pub disallowed_tools: Option<Spanned<Vec<ToolPattern>>>,
    /// Whether one of the three lists cannot be read. Nobody knows what it would have kept out, so nothing may be called.
    pub has_unread_tools: bool,
    /// `model`.
    pub model: Option<Spanned<String>>,
    /// `effort`.
    pub effort: Option<Spanned<String>>,
    /// `maxTurns`.
    pub max_turns: Option<Spanned<NonZeroU32>>,
    /// `tags`.
    pub tags: Vec<String>,
    /// `context`.
    pub context: Context,
    /// `agent`.
    pub agent: Option<Spanned<String>>,
    /// `background`.
    pub background: Option<bool>,
    /// `argument-hint`.
    pub argument_hint: Option<Spanned<String>>,
    /// `arguments`.
    pub arguments: Vec<Argument>,
    /// `paths`.
    pub paths: Vec<String>,
    /// `hooks` as written.
    pub hooks: Option<Value>,
    /// `shell`.
    pub shell: Option<Spanned<String>>,
    /// `requires`, else `metadata.openclaw.requires`.
    pub requires: Option<Requires>,
    /// `metadata.metier.needs`.
    pub needs: Option<Needs>,
    /// Every other key as written, and those whose value has another type than they take.
    pub extra: Vec<(String, Value)>,
}

/// A description and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Description {
    /// Written by the author.
    Written(Spanned<String>),
    /// The first paragraph of the body.
    Derived(String),
    /// There is none.
    Absent,
}

impl Description {
    /// The text; empty where there is none.
    pub fn text(&self) -> &str {
        match self {
            Self::Written(written) => &written.value,
            Self::Derived(text) => text,
            Self::Absent => "",
        }
    }
}

/// Why a skill is for the user only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserOnly {
    /// `disable-model-invocation: true`.
    Declared,
    /// There is no frontmatter to offer it by.
    NoFrontmatter,
    /// There is no description to offer it by.
    NoDescription,
}

/// How a skill runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Context {
    /// In the conversation.
    #[default]
    Inline,
    /// In a child of its own.
    Fork,
    /// Inline, with a note that is shown on activation.
    Note(String),
}

/// A named position for substitution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Argument {
    /// The name, used as `$name`.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// What counts when none is given.
    pub default: Option<String>,
}

/// What must be there for the skill to work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Requires {
    /// Programs, all of them.
    pub bins: Vec<String>,
    /// Programs, one of them.
    #[serde(rename = "anyBins")]
    pub any_bins: Vec<String>,
    /// Names of environment variables.
    pub env: Vec<String>,
    /// Operating systems, one of them.
    pub os: Vec<String>,
    /// Tools of the agent.
    pub tools: Vec<String>,
}

/// What the skill asks for beyond the default containment. A request, never a grant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// Hosts it wants to reach.
    pub hosts: Vec<String>,
    /// Globs of the project it wants to write.
    pub write: Vec<String>,
    /// Names of environment variables it wants to see.
    pub env: Vec<String>,
    /// How long a script may take.
    pub seconds: Option<NonZeroU32>,
}

impl Manifest {
    /// The tool list in force: `tools` or `allowed-tools`, and what both allow where both are given. An empty one where a
    /// list cannot be read, be it the one that takes tools away.
    pub fn tool_list(&self) -> Option<Vec<ToolPattern>> {
        if self.more.has_unread_tools {
            return Some(Vec::new());
        }
        let (tools, allowed) = match (&self.more.tools, &self.more.allowed_tools) {
            (Some(tools), Some(allowed)) => (&tools.value, &allowed.value),
            (Some(list), None) | (None, Some(list)) => return Some(list.value.clone()),
            (None, None) => return None,
        };
        let mut both: Vec<ToolPattern> = Vec::new();
        for pattern in tools.iter().flat_map(|one| allowed.iter().filter_map(move |other| one.common(other)))
        {
            if !both.contains(pattern) {
                both.push(pattern.clone());
            }
        }
        Some(both)
    }

    /// The description with `when_to_use` behind it, as the catalogue and the index use it.
    pub fn offer(&self) -> String {
        match (self.description.text(), &self.when_to_use) {
            (text, None) => text.to_owned(),
            ("", Some(when)) => when.value.clone(),
            (text, Some(when)) => format!("{text} {}", when.value),
        }
    }
}
