//! What all conversations of an agent share.

use std::sync::Arc;
use std::time::Duration;

use metier_model::{ChatModel, Effort, Prices};
use metier_runtime::{Skills, Surface};
use metier_store::Store;
use tokio::runtime::Runtime;

use crate::child::{Agents, Colleague};
use crate::compaction::Compaction;
use crate::frame::INSTRUCTIONS;
use crate::limits::Limits;
use crate::models::Models;
use crate::outside::OutsideTools;
use crate::part::Part;

/// How an agent tells its model of skills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disclosure {
    /// A catalogue and a tool that activates: a skill runs in the conversation, or in a child where it says so.
    #[default]
    Catalogue,
    /// A tool for each skill: the agent is a router, and every skill runs in a child.
    Handoff,
}

/// What becomes of children in the background when a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// They are waited for so long, the model gets what they bring, and who is not done by then is stopped with what is there.
    Wait(Duration),
    /// They go on: what they bring comes with the user's next message. It is for conversations that go on, too.
    Leave,
}

impl Default for Patience {
    /// As long as a child may take.
    fn default() -> Self {
        Self::Wait(Limits::default().child_time)
    }
}

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
    pub(crate) models: Option<Arc<dyn Models>>,
    pub(crate) agents: Option<Arc<dyn Agents>>,
    pub(crate) disclosure: Disclosure,
    pub(crate) patience: Patience,
    pub(crate) compaction: Compaction,
    pub(crate) part: Part,
    pub(crate) outside: Option<Arc<dyn OutsideTools>>,
    pub(crate) colleagues: Arc<[Colleague]>,
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
            models: None,
            agents: None,
            disclosure: Disclosure::default(),
            patience: Patience::default(),
            compaction: Compaction::default(),
            part: Part::default(),
            outside: None,
            colleagues: Arc::default(),
        }
    }

    /// Another model, such as one that the user names while a conversation goes on.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn ChatModel>) -> Self {
        self.model = model;
        self
    }

    /// The part it plays: its name, its own skills and tools.
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        self.part = part;
        self
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

    /// The models that skills may ask for; without them every skill works with the agent's own.
    #[must_use]
    pub fn models(mut self, models: Arc<dyn Models>) -> Self {
        self.models = Some(models);
        self
    }

    /// The agents that skills may name as those that run them.
    #[must_use]
    pub fn agents(mut self, agents: Arc<dyn Agents>) -> Self {
        self.agents = Some(agents);
        self
    }

    /// How the model is told of skills.
    #[must_use]
    pub fn disclosure(mut self, disclosure: Disclosure) -> Self {
        self.disclosure = disclosure;
        self
    }

    /// What becomes of children in the background when a run ends.
    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// The name of the model that is asked.
    pub fn model_name(&self) -> String {
        self.model.id().to_string()
    }

    /// When a conversation is made shorter, and how much the model can hold in mind.
    #[must_use]
    pub fn compaction(mut self, compaction: Compaction) -> Self {
        self.compaction = compaction;
        self
    }

    /// Who has more tools: MCP servers.
    #[must_use]
    pub fn outside(mut self, tools: Option<Arc<dyn OutsideTools>>) -> Self {
        self.outside = tools;
        self
    }

    /// Who has more tools for it, if anybody.
    pub fn outside_tools(&self) -> Option<&Arc<dyn OutsideTools>> {
        self.outside.as_ref()
    }

    /// The others of its crew, whom it hands work over to. They count where it hands over at all.
    #[must_use]
    pub fn colleagues(mut self, colleagues: Vec<Colleague>) -> Self {
        self.colleagues = colleagues.into();
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
