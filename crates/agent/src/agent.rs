//! What all conversations of an agent share.

use std::sync::Arc;

use metier_model::{ChatModel, Effort, Prices};
use metier_runtime::{Skills, Surface};
use metier_store::Store;
use tokio::runtime::Runtime;

use crate::frame::INSTRUCTIONS;
use crate::limits::Limits;
use crate::outside::OutsideTools;

/// An agent: skills, a model, and where everything is written down. Conversations are made of it, as many as there are at once.
///
/// A conversation works on the thread that it is called on, and only its model's answers come over the runtime: tools,
/// questions and processes wait, and waiting is what threads are for. One that has nothing to do holds no thread.
#[derive(Clone)]
pub struct Agent {
    pub(crate) skills: Skills,
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) store: Store,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) prices: Option<Prices>,
    pub(crate) limits: Limits,
    pub(crate) surface: Surface,
    pub(crate) instructions: Arc<str>,
    pub(crate) effort: Option<Effort>,
    pub(crate) outside: Option<Arc<dyn OutsideTools>>,
}

impl Agent {
    /// An agent with the usual limits. The runtime drives the model's connections; it has to have its IO and time switched on.
    pub fn new(skills: Skills, model: Arc<dyn ChatModel>, store: Store, runtime: Arc<Runtime>) -> Self {
        Self {
            skills,
            model,
            store,
            runtime,
            prices: None,
            limits: Limits::default(),
            surface: Surface::default(),
            instructions: INSTRUCTIONS.into(),
            effort: None,
            outside: None,
        }
    }

    /// What the model costs.
    #[must_use]
    pub fn prices(mut self, prices: Option<Prices>) -> Self {
        self.prices = prices;
        self
    }

    /// What may be used up for one message of the user.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whose names the skills' tools have.
    #[must_use]
    pub fn surface(mut self, surface: Surface) -> Self {
        self.surface = surface;
        self
    }

    /// What it is told before everything else, instead of the usual.
    #[must_use]
    pub fn instructions(mut self, text: &str) -> Self {
        self.instructions = text.into();
        self
    }

    /// How much the model thinks.
    #[must_use]
    pub fn effort(mut self, effort: Option<Effort>) -> Self {
        self.effort = effort;
        self
    }

    /// Who has more tools: MCP servers.
    #[must_use]
    pub fn outside(mut self, tools: Option<Arc<dyn OutsideTools>>) -> Self {
        self.outside = tools;
        self
    }

    /// Its skills.
    pub fn skills(&self) -> &Skills {
        &self.skills
    }

    /// Where everything is written down.
    pub fn store(&self) -> &Store {
        &self.store
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("model", self.model.id()).finish_non_exhaustive()
    }
}
