//! A role: the instructions, skills, tools, servers and limits of one agent.

use std::path::PathBuf;

use metier_catalog::Disclosure;
use metier_policy::Mode;
use metier_skill::{Spanned, ToolPattern};
use serde_json::Value;

use crate::budget::RoleBudget;

/// One agent of a definition. A Markdown file has one role, a crew file one for each of its agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its name.
    pub name: Spanned<String>,
    /// What it is for.
    pub description: Option<Spanned<String>>,
    /// The text for its model.
    pub instructions: String,
    /// The file that the instructions are in, where it is not the definition's own.
    pub instructions_file: Option<Spanned<PathBuf>>,
    /// The model that it asks for: an alias or `provider/model`. `None` means the session's model.
    pub model: Option<Spanned<String>>,
    /// The reasoning effort that it asks for.
    pub effort: Option<Spanned<String>>,
    /// Its skills.
    pub skills: SkillList,
    /// The only tools that it has; `None` means no restriction.
    pub tools: Option<Spanned<Vec<ToolPattern>>>,
    /// Tools that it does not have.
    pub disallowed: Vec<ToolPattern>,
    /// The servers whose tools it has.
    pub servers: Vec<Spanned<ServerRef>>,
    /// Its limits for one user message.
    pub budget: RoleBudget,
    /// How its skills are disclosed; `None` means the user's default.
    pub disclosure: Option<SkillDisclosure>,
    /// Whether it has the memory tools; `None` means the default of its format.
    pub memory: Option<bool>,
    /// The permission mode, where it asks for a stricter one than the user's.
    pub mode: Option<Mode>,
}

impl Role {
    /// A role of which only the name is known.
    pub(crate) fn named(name: Spanned<String>) -> Self {
        Self {
            name,
            description: None,
            instructions: String::new(),
            instructions_file: None,
            model: None,
            effort: None,
            skills: SkillList::All,
            tools: None,
            disallowed: Vec::new(),
            servers: Vec::new(),
            budget: RoleBudget::default(),
            disclosure: None,
            memory: None,
            mode: None,
        }
    }

    /// Whether each of its skills works in a sub-agent of its own.
    pub fn hands_off(&self) -> bool {
        self.disclosure == Some(SkillDisclosure::Handoff)
    }
}

/// The skills that a role sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillList {
    /// All skills that the user's model may use.
    All,
    /// These only.
    Named(Vec<SkillRef>),
}

impl SkillList {
    /// The named skills; empty for [`SkillList::All`].
    pub fn named(&self) -> &[SkillRef] {
        match self {
            Self::All => &[],
            Self::Named(skills) => skills,
        }
    }
}

/// A reference from a role to a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRef {
    /// The reference as it is written: `deploy`, `deploy@^1.2`, `user:deploy`.
    pub name: Spanned<String>,
    /// The folder that the skill must be in, absolute. Crews name both.
    pub folder: Option<Spanned<PathBuf>>,
}

/// A reference from a role to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerRef {
    /// A server of the configuration, by its name.
    Named(String),
    /// A server that a file describes: the absolute path, and the description if the file could be read.
    File(PathBuf, Option<ServerDescription>),
    /// A server that the definition itself describes. It starts a program, so it needs the trust that the definition needs.
    Inline(ServerDescription),
}

impl ServerRef {
    /// Its name, else the path of its file.
    pub fn name(&self) -> String {
        match self {
            Self::Named(name) | Self::Inline(ServerDescription { name, .. }) => name.clone(),
            Self::File(_, Some(described)) => described.name.clone(),
            Self::File(path, None) => path.display().to_string(),
        }
    }
}

/// A server as a file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerDescription {
    /// Its name in the file.
    pub name: String,
    /// Its settings, in the form of `.mcp.json`.
    pub settings: Value,
}

impl ServerDescription {
    /// What is wrong with the settings, if anything.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let has =
            |key: &str| self.settings.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        let url = ["url", "serverUrl", "httpUrl"].into_iter().any(has);
        match (self.settings.is_object(), has("command"), url) {
            (false, ..) => Some("is no object"),
            (true, true, true) => Some("has a `command` and a `url`; one of them is meant"),
            (true, false, false) => Some("has neither a `command` nor a `url`"),
            _ => None,
        }
    }
}

/// How a role's skills are disclosed to its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillDisclosure {
    /// Listed for the session, which activates them.
    Listed(Disclosure),
    /// Each skill works in a sub-agent of its own, and the role hands work off to it.
    Handoff,
}

impl SkillDisclosure {
    /// The word for it in an agent's file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Listed(disclosure) => disclosure.word(),
            Self::Handoff => "handoff",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        let listed = [Disclosure::Markdown, Disclosure::Xml, Disclosure::Eager].map(Self::Listed);
        listed.into_iter().chain([Self::Handoff]).find(|disclosure| disclosure.word() == word)
    }
}
