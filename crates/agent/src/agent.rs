//! What all sessions of an agent share.

use std::sync::Arc;
use std::time::Duration;

use metier_model::ChatModel;
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

/// An agent: skills, a model, a store. It can have any number of sessions at once.
///
/// A session works on the thread that calls it, and only the model's answers come over the runtime. An idle session holds no thread.
#[derive(Clone)]
#[must_use]
pub struct Agent {
    /// Its skills.
    pub skills: Skills,
    /// Its model, unless a skill selects another one.
    pub selection: ModelSelection,
    /// Its store.
    pub store: Store,
    /// Drives the model's connections; its IO and time must be enabled.
    pub runtime: Arc<Runtime>,
    /// The limits of one run.
    pub limits: Limits,
    /// The surface whose names the skills' tools have.
    pub surface: Surface,
    /// Its instructions.
    pub instructions: Arc<str>,
    /// The models that skills may ask for; without them every skill uses the agent's own.
    pub models: Option<Arc<dyn Models>>,
    /// The agents that skills may name with `agent:`.
    pub agents: Option<Arc<AgentDirectory>>,
    /// How the model learns of skills.
    pub disclosure: Disclosure,
    /// How long the end of a run waits for sub-agents in the background. Their answers go to the model; the rest is stopped with what
    /// it has.
    pub patience: Duration,
    /// When a conversation is shortened, and the context window.
    pub compaction: Compaction,
    /// Its profile: its name, its own skills and tools.
    pub part: AgentProfile,
    /// The tools of MCP servers.
    pub outside: Option<Arc<dyn ToolServer>>,
    /// The other members of its crew, for an agent that hands over.
    pub colleagues: Arc<[CrewMember]>,
}

impl Agent {
    /// An agent with the default limits.
    pub fn new(skills: Skills, model: Arc<dyn ChatModel>, store: Store, runtime: Arc<Runtime>) -> Self {
        let limits = Limits::default();
        Self {
            skills,
            selection: ModelSelection { model, prices: None, effort: None },
            store,
            runtime,
            limits,
            surface: Surface::default(),
            instructions: INSTRUCTIONS.into(),
            models: None,
            agents: None,
            disclosure: Disclosure::default(),
            patience: limits.child_time,
            compaction: Compaction::default(),
            part: AgentProfile::default(),
            outside: None,
            colleagues: Arc::default(),
        }
    }

    /// The name of its model.
    pub fn model_name(&self) -> String {
        self.selection.model.id().to_string()
    }

    /// The crew member that a skill belongs to; `None` if it is this agent's own.
    pub(crate) fn owner_of(&self, name: &str) -> Option<&CrewMember> {
        let is_called = |reference: &String| {
            reference == name || reference.rsplit_once(':').is_some_and(|(_, own)| own == name)
        };
        let has = |profile: &AgentProfile| profile.skills.iter().flat_map(|own| own.iter()).any(is_called);
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
        let found = self.agents.as_ref().and_then(|agents| agents(named));
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
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("model", self.selection.model.id()).finish_non_exhaustive()
    }
}
