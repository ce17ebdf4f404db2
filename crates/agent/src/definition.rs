//! Agents that somebody wrote down: one typed value for every form of file.
//!
//! ```text
//! agents/x.md, .claude/agents/x.md ─► markdown ─┐
//! x.skilled_crew.yaml ──────────────► crew ─────┴─► Definition ─► check ─► what starts, or everything that is wrong
//! ```
//!
//! - [`Definition::parse`] reads a text and never fails: what is odd is a diagnostic with its line.
//! - [`Definition::read`] reads a file and the files that it names: instructions and commands.
//! - [`Read::check`] holds it against the skills, models and servers that there are. A reference that leads nowhere is an
//!   error, and an agent with an error does not start.
//! - [`definitions`] finds the files of a project and of a user.
//!
//! What this module is not: it trusts nobody, starts nothing and asks no model. Whoever runs an agent of a project has asked
//! whether the project is trusted.

mod applying;
mod budget;
mod check;
pub mod code;
mod crew;
mod finding;
mod following;
mod form;
mod key;
mod markdown;
mod reading;
mod schema;
mod shelf;
mod skill_check;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use metier_diagnostic::{Diagnostic, Severity};
use metier_policy::Mode;
use metier_skill::{Spanned, ToolPattern};
use serde_json::Value;

pub use self::budget::{Budget, Cap};
pub use self::check::Known;
pub use self::finding::{Found, Place, definitions, found_at};
pub use self::form::{CREW_SUFFIX, Form};
pub use self::schema::schema;
pub use self::shelf::Shelf;
use crate::slash::Command;

/// The largest file of a definition that is read. The largest public agent file has a tenth of it, and all of it goes into every
/// request to the model.
pub const MAX_FILE: u64 = 256 * 1024;

/// An agent as its file describes it, or a crew of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Which kind of file it is.
    pub form: Form,
    /// The file.
    pub file: Arc<Path>,
    /// What it is called: `name`, a crew's `id`, else the name of the file.
    pub name: Spanned<String>,
    /// Who works: one, or each of a crew.
    pub roles: Vec<Role>,
    /// Who of them is spoken to.
    pub entry: usize,
    /// Slash commands that come with it.
    pub commands: Vec<Command>,
}

/// Somebody who works: instructions, skills, tools, limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// What it is called.
    pub name: Spanned<String>,
    /// What it is for.
    pub description: Option<Spanned<String>>,
    /// What it is told.
    pub instructions: String,
    /// The file that its instructions are in, where it is another one.
    pub instructions_file: Option<Spanned<PathBuf>>,
    /// The model it wants: an alias or `provider/model`. None where the conversation's own counts.
    pub model: Option<Spanned<String>>,
    /// How much that one should think.
    pub effort: Option<Spanned<String>>,
    /// Its skills.
    pub skills: SkillList,
    /// The only tools it has; `None` says nothing.
    pub tools: Option<Spanned<Vec<ToolPattern>>>,
    /// Tools that it does not have.
    pub disallowed: Vec<ToolPattern>,
    /// The servers whose tools it has.
    pub servers: Vec<Spanned<Server>>,
    /// What it may use up.
    pub budget: Budget,
    /// How its skills come to it.
    pub manner: Option<Manner>,
    /// Whether it remembers.
    pub memory: Option<Remembers>,
    /// How much is asked, where it wants to be asked more than usual.
    pub mode: Option<Mode>,
}

/// Which skills a role sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillList {
    /// All that the user's model may use.
    All,
    /// These alone.
    Named(Vec<SkillWish>),
}

/// A skill that a role names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillWish {
    /// The reference as it is written: `deploy`, `deploy@^1.2`, `user:deploy`.
    pub name: Spanned<String>,
    /// The folder it must lie in, absolute: a crew names both.
    pub folder: Option<Spanned<PathBuf>>,
}

/// A server whose tools a role has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// One that the configuration knows by this name.
    Named(String),
    /// One that a file describes, absolute; with what it says, where it could be read.
    File(PathBuf, Option<Described>),
    /// One that is described on the spot. What it would start is the file's word, so it takes the same trust.
    Inline(Described),
}

impl Server {
    /// What it is called, else where it is described.
    pub fn name(&self) -> String {
        match self {
            Self::Named(name) | Self::Inline(Described { name, .. }) => name.clone(),
            Self::File(_, Some(described)) => described.name.clone(),
            Self::File(path, None) => path.display().to_string(),
        }
    }
}

/// A server as a file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// What the file calls it.
    pub name: String,
    /// Its settings, as `.mcp.json` has them.
    pub settings: Value,
}

impl Described {
    /// Why it describes no server, where it does not.
    fn problem(&self) -> Option<&'static str> {
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

/// How skills come to a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// In the conversation, after they were listed so.
    Listed(metier_catalog::Disclosure),
    /// Each works in a conversation of its own, and the role hands work over to it.
    Handoff,
}

impl Manner {
    /// The word for it, as an agent file writes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Listed(disclosure) => disclosure.word(),
            Self::Handoff => "handoff",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        use metier_catalog::Disclosure;
        let listed = [Disclosure::Markdown, Disclosure::Xml, Disclosure::Eager].map(Self::Listed);
        listed.into_iter().chain([Self::Handoff]).find(|manner| manner.word() == word)
    }
}

/// Whether a role remembers from one conversation to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remembers {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// What a file gave: what could be understood, and everything that is odd about it.
#[derive(Clone, Debug)]
pub struct Read {
    /// What could be understood.
    pub definition: Definition,
    /// What is odd, in the order of the file; what is odd in files that it names comes behind.
    pub diagnostics: Vec<Diagnostic>,
    /// The text that was read.
    pub source: String,
}

impl Definition {
    /// Reads a text. `ground` is the folder that nothing in it may lead out of.
    pub fn parse(form: Form, file: &Arc<Path>, text: &str, ground: &Path) -> Read {
        match form {
            Form::Crew => crew::parse(file, text, ground),
            Form::Agent | Form::AgentMd | Form::Claude => markdown::parse(form, file, text),
        }
    }

    /// Who is spoken to. A crew without anybody has no one.
    pub fn entry(&self) -> Option<&Role> {
        self.roles.get(self.entry)
    }

    /// A role by its name.
    pub fn role(&self, name: &str) -> Option<&Role> {
        self.roles.iter().find(|role| role.name.value == name)
    }

    /// Whether somebody who types this name means it: its name, a crew's id, or its file's name.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.value == name || Form::stem(&self.file) == name
    }
}

impl Read {
    /// Whether it may start: nothing in it is wrong.
    pub fn is_sound(&self) -> bool {
        self.errors().next().is_none()
    }

    /// What keeps it from starting.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|found| found.severity() == Severity::Error)
    }
}

impl SkillList {
    /// The skills that are named; nothing where all are meant.
    pub fn named(&self) -> &[SkillWish] {
        match self {
            Self::All => &[],
            Self::Named(wishes) => wishes,
        }
    }
}
