//! What all sessions of an agent share.

use std::sync::Arc;
use std::time::Duration;

use metier_model::{ChatModel, Effort, Prices};
use metier_policy::Skill;
use metier_runtime::{SkillSession, Skills, Surface};
use metier_store::{EventKind, EventSeverity, Store};
use tokio::runtime::Runtime;

use crate::agent_profile::AgentProfile;
use crate::compaction::Compaction;
use crate::limits::Limits;
use crate::models::{ModelSelection, Models, remark};
use crate::prompt_prefix::INSTRUCTIONS;
use crate::session::joined;
use crate::subagent::{AgentDirectory, CrewMember, SubagentProfile};
use metier_tools::{ExternalTools, ToolServer};

/// How the model learns of skills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disclosure {
    /// A catalogue and a tool that activates: a skill runs in the session, or in a sub-agent if it says so.
    #[default]
    Catalogue,
    /// A tool for each skill: the agent is a router, and every skill runs in a sub-agent.
    Handoff,
}

/// What becomes of sub-agents in the background when a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// The run waits this long for them and gives their answers to the model; the rest is stopped with what it has.
    Wait(Duration),
    /// They continue, and their answers come with the user's next message.
    Leave,
}

impl Default for Patience {
    /// As long as a sub-agent may take.
    fn default() -> Self {
        Self::Wait(Limits::default().child_time)
    }
}

/// An agent: skills, a model, a store. It can have any number of sessions at once.
///
/// A session works on the thread that calls it, and only the model's answers come over the runtime. An idle session holds no thread.
#[derive(Clone)]
#[must_use]
pub struct Agent {
    pub(crate) skills: Skills,
    pub(crate) selection: ModelSelection,
    pub(crate) store: Store,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) limits: Limits,
    pub(crate) surface: Surface,
    pub(crate) instructions: Arc<str>,
    pub(crate) models: Option<Arc<dyn Models>>,
    pub(crate) agents: Option<Arc<dyn AgentDirectory>>,
    pub(crate) disclosure: Disclosure,
    pub(crate) patience: Patience,
    pub(crate) compaction: Compaction,
    pub(crate) part: AgentProfile,
    pub(crate) outside: Option<Arc<dyn ToolServer>>,
    pub(crate) colleagues: Arc<[CrewMember]>,
}

impl Agent {
    /// An agent with the default limits. The runtime drives the model's connections; its IO and time must be enabled.
    pub fn new(skills: Skills, model: Arc<dyn ChatModel>, store: Store, runtime: Arc<Runtime>) -> Self {
        Self {
            skills,
            selection: ModelSelection { model, prices: None, effort: None },
            store,
            runtime,
            limits: Limits::default(),
            surface: Surface::default(),
            instructions: INSTRUCTIONS.into(),
            models: None,
            agents: None,
            disclosure: Disclosure::default(),
            patience: Patience::default(),
            compaction: Compaction::default(),
            part: AgentProfile::default(),
            outside: None,
            colleagues: Arc::default(),
        }
    }

    /// Another model.
    pub fn model(mut self, model: Arc<dyn ChatModel>) -> Self {
        self.selection.model = model;
        self
    }

    /// Its profile: its name, its own skills and tools.
    pub fn part(mut self, part: AgentProfile) -> Self {
        self.part = part;
        self
    }

    /// The prices of the model.
    pub fn prices(mut self, prices: Option<Prices>) -> Self {
        self.selection.prices = prices;
        self
    }

    /// The limits of one run.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The surface whose names the skills' tools have.
    pub fn surface(mut self, surface: Surface) -> Self {
        self.surface = surface;
        self
    }

    /// Its instructions, instead of the default ones.
    pub fn instructions(mut self, text: &str) -> Self {
        self.instructions = text.into();
        self
    }

    /// How much the model thinks.
    pub fn effort(mut self, effort: Option<Effort>) -> Self {
        self.selection.effort = effort;
        self
    }

    /// The models that skills may ask for; without them every skill uses the agent's own.
    pub fn models(mut self, models: Arc<dyn Models>) -> Self {
        self.models = Some(models);
        self
    }

    /// The agents that skills may name with `agent:`.
    pub fn agents(mut self, agents: Arc<dyn AgentDirectory>) -> Self {
        self.agents = Some(agents);
        self
    }

    /// How the model learns of skills.
    pub fn disclosure(mut self, disclosure: Disclosure) -> Self {
        self.disclosure = disclosure;
        self
    }

    /// What becomes of sub-agents in the background when a run ends.
    pub fn patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// The name of its model.
    pub fn model_name(&self) -> String {
        self.selection.model.id().to_string()
    }

    /// When a conversation is shortened, and the context window.
    pub fn compaction(mut self, compaction: Compaction) -> Self {
        self.compaction = compaction;
        self
    }

    /// The tools of MCP servers.
    pub fn outside(mut self, tools: Option<Arc<dyn ToolServer>>) -> Self {
        self.outside = tools;
        self
    }

    /// The tools of MCP servers, if it has any.
    pub fn outside_tools(&self) -> Option<&Arc<dyn ToolServer>> {
        self.outside.as_ref()
    }

    /// The other members of its crew, for an agent that hands over.
    pub fn colleagues(mut self, colleagues: Vec<CrewMember>) -> Self {
        self.colleagues = colleagues.into();
        self
    }

    /// The crew member that a skill belongs to; `None` if it is this agent's own.
    pub(crate) fn owner_of(&self, name: &str) -> Option<&CrewMember> {
        let is_called = |reference: &String| {
            reference == name || reference.rsplit_once(':').is_some_and(|(_, own)| own == name)
        };
        let has = |profile: &AgentProfile| profile.references().unwrap_or_default().iter().any(is_called);
        if has(&self.part) {
            return None;
        }
        self.colleagues.iter().find(|member| has(&member.part))
    }

    /// The agent file that runs a skill, if the skill names one.
    pub(crate) fn subagent_profile(
        &self,
        named: Option<&str>,
        skill: &Skill,
        remarks: &mut Vec<EventKind>,
    ) -> SubagentProfile {
        let Some(named) = named else { return SubagentProfile::default() };
        let found = self.agents.as_ref().and_then(|agents| agents.find(named));
        found.unwrap_or_else(|| {
            let text = format!(
                "the skill `{}` wants the agent `{}`, which is unknown here; it runs with its own text alone",
                skill.name,
                metier_catalog::one_line(named, 100)
            );
            remarks.push(remark("agent-unknown", EventSeverity::Warning, text));
            SubagentProfile::default()
        })
    }

    /// The skills of a crew member, beneath a session of this agent, and the tools of its servers.
    pub(crate) fn crew_skills(
        &self,
        member: &CrewMember,
        above: &SkillSession,
    ) -> Result<(SkillSession, Arc<ExternalTools>), String> {
        let external = Arc::new(ExternalTools::settle(member.outside.as_ref()));
        let skills = member.part.session(&self.skills, self.surface, &external, Some(above));
        let mut skills = skills.map_err(|problems| joined(&problems))?;
        skills.server_tools(external.known().clone());
        Ok((skills, external))
    }

    /// A member of its crew by name.
    pub(crate) fn crew_member(&self, name: &str) -> Option<&CrewMember> {
        self.colleagues.iter().find(|member| member.name == name)
    }

    /// Its skills.
    pub fn skills(&self) -> &Skills {
        &self.skills
    }

    /// Its store.
    pub fn store(&self) -> &Store {
        &self.store
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("model", self.selection.model.id()).finish_non_exhaustive()
    }
}
