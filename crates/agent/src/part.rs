//! The part that an agent plays: what it is called, and which skills and tools are its own.

use std::sync::Arc;

use metier_catalog::Unresolved;
use metier_policy::{Dialect, Folders, McpTools, Meaning, Scope, Skill, Terms};
use metier_runtime::{Session, Skills, Surface};
use metier_skill::ToolPattern;

use crate::frame::Frame;
use crate::outside::Outside;

/// The part that an agent plays. Without one it sees every skill and has every tool.
#[derive(Clone, Debug, Default)]
pub struct Part {
    name: Option<Arc<str>>,
    skills: Option<Arc<[String]>>,
    tools: Option<Arc<[ToolPattern]>>,
    disallowed: Arc<[ToolPattern]>,
}

impl Part {
    /// Somebody with a name.
    pub fn named(name: &str) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }

    /// The same by another name.
    #[must_use]
    pub(crate) fn named_as(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The only skills it sees, as references.
    #[must_use]
    pub fn skills(mut self, references: Option<Vec<String>>) -> Self {
        self.skills = references.map(Into::into);
        self
    }

    /// The only tools it has, and those that it has not. They hold from the beginning of a conversation to its end, for its
    /// children, too: what is outside is not offered, and refused where it is called all the same.
    #[must_use]
    pub fn tools(mut self, tools: Option<&[ToolPattern]>, disallowed: &[ToolPattern]) -> Self {
        self.tools = tools.map(Into::into);
        self.disallowed = disallowed.into();
        self
    }

    /// What it is called.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The only skills it sees; `None` where it sees all.
    pub fn references(&self) -> Option<&[String]> {
        self.skills.as_deref()
    }

    /// Begins a session for it, beneath another one where it is handed work over to.
    pub(crate) fn session(
        &self,
        skills: &Skills,
        surface: Surface,
        outside: &Outside,
        above: Option<&Session>,
    ) -> Result<Session, Vec<Unresolved>> {
        let session = match &self.skills {
            Some(list) => skills.session_with(surface, list.iter().map(String::as_str))?,
            None => skills.session_on(surface),
        };
        let session = match above {
            Some(above) => session.beneath(above),
            None => session,
        };
        Ok(match self.scope(outside) {
            Some(scope) => session.held_by(scope),
            None => session,
        })
    }

    /// The frame without the tools that it has not: what cannot be called is not told of.
    pub(crate) fn framed(&self, frame: Frame, outside: &Outside) -> Frame {
        let Some(scope) = self.scope(outside) else { return frame };
        frame.keeping(|name| outside.meant(name).is_none_or(|offered| scope.offers(offered)))
    }

    /// What its lists of tools come to. A bare name in them may be that of a server's tool.
    fn scope(&self, outside: &Outside) -> Option<Scope> {
        let name = self.name.as_deref().unwrap_or("this one");
        own_scope(name, self.tools.as_deref(), &self.disallowed, outside.known())
    }
}

/// What an agent's own lists of tools come to, where it has any.
pub(crate) fn own_scope(
    name: &str,
    tools: Option<&[ToolPattern]>,
    disallowed: &[ToolPattern],
    known: &McpTools,
) -> Option<Scope> {
    if tools.is_none() && disallowed.is_empty() {
        return None;
    }
    let terms = Terms {
        skill: Skill::new(name, Skill::AGENT),
        tools,
        disallowed,
        // A fence and no grant: a file says what its agent does not do, and never what needs no question.
        meaning: Meaning::Fence,
        dialect: Dialect::Usual,
        folders: Folders::default(),
    };
    Some(Scope::open(terms, known))
}
