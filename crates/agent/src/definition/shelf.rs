//! The agents that skills may name as those that run them.

use std::num::NonZeroU32;
use std::sync::Arc;

use metier_catalog::Layout;
use metier_policy::McpTools;

use super::{Cap, Definition, Role, definitions};
use crate::child::{Agents, ChildAgent};
use crate::part::own_scope;

/// The agents of a project and its user, looked up when a skill names one. Those of an untrusted project are not among them.
#[derive(Clone, Debug)]
pub struct Shelf {
    layout: Arc<Layout>,
}

impl Shelf {
    /// The agents that are found from here.
    pub fn new(layout: Arc<Layout>) -> Self {
        Self { layout }
    }
}

impl Agents for Shelf {
    fn find(&self, name: &str) -> Option<ChildAgent> {
        let trusted = definitions(&self.layout).into_iter().filter(|found| found.place.is_trusted());
        let read = trusted.map(|found| Definition::read(found.form, &found.file, &found.ground));
        // What is wrong in a file is told by `metier agents`; half an agent runs nothing.
        let mut sound = read.filter(|read| read.definition.is_called(name) && read.is_sound());
        sound.next()?.definition.entry().map(Role::as_child)
    }
}

impl Role {
    /// The role as far as it runs a skill in a child: the skill is given, so its own list of skills says nothing.
    fn as_child(&self) -> ChildAgent {
        let tools = self.tools.as_ref().map(|tools| tools.value.as_slice());
        let max_turns = match self.budget.turns {
            Cap::At(turns) => NonZeroU32::try_from(turns).ok(),
            Cap::Unsaid | Cap::None => None,
        };
        ChildAgent {
            instructions: self.instructions.clone(),
            model: self.model.as_ref().map(|model| model.value.clone()),
            effort: self.effort.as_ref().map(|effort| effort.value.clone()),
            max_turns,
            scope: own_scope(&self.name.value, tools, &self.disallowed, &McpTools::default()),
        }
    }
}
