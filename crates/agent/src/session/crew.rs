//! The members of a crew: how one of them starts, and how the user reaches its skills.

use std::sync::Arc;

use metier_runtime::{Fork, UseError};
use metier_store::{By, EventKind, SessionId, SubagentMode};

use super::spawn::{Requester, requester};
use super::{Session, problems};
use crate::agent::Disclosure;
use crate::models::ModelPreference;
use crate::prompt_prefix::PromptPrefix;
use crate::subagent::{CrewMember, StartPoint, SubagentSpec, SubagentStart, Worker, request};
use metier_tools::ExternalTools;

impl Session {
    /// Starts a crew member: a router like this session, with its own instructions, skills, servers and model, which can only hand
    /// back.
    pub(super) fn send_crew_member(
        &mut self,
        at: usize,
        text: &str,
        requester: &Requester,
    ) -> Result<u64, String> {
        let members = Arc::clone(&self.agent.colleagues);
        let member = members.get(at).ok_or("this crew has no such member")?;
        let mut remarks = Vec::new();
        let id = SessionId::new().map_err(|error| error.to_string())?;
        let spec = self.crew_spec(member, id, &mut remarks)?;
        let prefix = PromptPrefix::new(&spec.agent.instructions, &spec.skills, &spec.general, &spec.external);
        let prefix = spec.agent.part.framed(prefix, &spec.external);
        let started =
            self.subagent_started(&spec.agent, &spec.general, request(text), Some(member.name.clone()));
        let start = SubagentStart { prefix, started, activated: None, remarks };
        self.send_spec(spec, StartPoint::New(Box::new(start)), requester.call.clone())
    }

    /// What a crew member works with, as this session.
    pub(super) fn crew_spec(
        &self,
        member: &CrewMember,
        id: SessionId,
        remarks: &mut Vec<EventKind>,
    ) -> Result<SubagentSpec, String> {
        let preference = ModelPreference {
            skill: member.name.clone(),
            model: member.model.clone(),
            effort: member.effort.clone(),
        };
        let mut agent = self.subagent_agent(&preference, remarks);
        agent.disclosure = Disclosure::Handoff;
        agent.part = member.part.clone();
        agent.instructions = member.instructions.as_str().into();
        agent.outside.clone_from(&member.outside);
        agent.colleagues = Arc::default();
        let (skills, external) = self.agent.crew_skills(member, &self.skills)?;
        remarks.extend(problems(&external));
        Ok(SubagentSpec {
            id,
            kind: SubagentMode::Handoff,
            worker: Worker::Role(member.name.clone()),
            line: self.subagents.line.clone(),
            depth: self.subagents.depth + 1,
            agent,
            skills,
            general: self.general.of_child(),
            external,
            hooks: self.subagent_hooks()?,
            budget: Arc::clone(&self.subagents.budget),
        })
    }

    /// Whether a skill of this session or of its crew wants a sub-agent of its own.
    pub(super) fn wants_subagent(&self, name: &str) -> Result<bool, UseError> {
        let own = self.skills.is_fork(name);
        let Err(error) = own else { return own };
        if self.agent.owner_of(name).is_some() { Ok(true) } else { Err(error) }
    }

    /// Prepares a sub-agent that runs a skill for the user or a program. A skill of another crew member runs with what is theirs.
    pub(super) fn fork(
        &self,
        by: By,
        name: &str,
        arguments: &str,
    ) -> Result<(Fork, Arc<ExternalTools>), UseError> {
        if let Some(member) = self.agent.owner_of(name) {
            let (skills, external) = self.agent.crew_skills(member, &self.skills).map_err(UseError::Need)?;
            return Ok((skills.fork(requester(by), name, arguments)?, external));
        }
        let fork = self.skills.fork(requester(by), name, arguments)?;
        Ok((fork, Arc::clone(&self.external)))
    }
}
