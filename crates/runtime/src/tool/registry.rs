//! The tools of a session.

use super::{Definition, Tool};

/// The tools of a session, from every provider. They are settled when it starts.
#[derive(Default)]
pub struct ToolRegistry {
    tools: Vec<Box<dyn Tool>>,
}

impl ToolRegistry {
    /// Adds tools. Of two that answer to a name, the one that was added first is meant.
    pub fn add(&mut self, tools: impl IntoIterator<Item = Box<dyn Tool>>) {
        self.tools.extend(tools);
    }

    /// The tool that a name means.
    pub fn find(&self, name: &str) -> Option<&dyn Tool> {
        self.tools.iter().find(|tool| tool.answers_to(name)).map(|tool| &**tool)
    }

    /// What a model is told, in the order in which the tools were added.
    pub fn offered(&self) -> impl Iterator<Item = &Definition> {
        self.tools.iter().filter(|tool| tool.is_offered()).map(|tool| tool.definition())
    }
}

impl std::fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.tools.iter().map(|tool| &*tool.definition().name);
        f.debug_list().entries(names).finish()
    }
}
