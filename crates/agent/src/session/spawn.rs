//! Starts sub-agents.

use std::sync::Arc;
use std::time::Instant;

use metier_activation::{ActivationError, ActivationMode, Invoker as RuntimeBy, SkillScope};
use metier_policy::{Decision, Question, Skill};
use metier_runtime::{CallControl, Fork, SkillSession, Surface, ToolResult, UseError};
use metier_store as store;
use metier_store::{By, Decided, EventKind, NoteTopic, SessionId, SubagentMode};
use metier_tools::{ExternalTools, GeneralTools};

use super::handoff::with_hand_back;
use super::message::activated;
use super::subagents::{RequestedWorker, SubagentContext, SubagentRequest};
use super::tool_dispatch::verdict;
use super::{Parts, RunHooks, Session, SessionError};
use crate::agent::Agent;
use crate::models::{ModelPreference, ModelResolver};
use crate::prompt_prefix::PromptPrefix;
use crate::session_log::SessionLog;
use crate::subagent::{
    FinishedSubagent, HAND_BACK_RULES, Place, QuietObserver, ROLE_RULES, Slot, StartPoint, Subagent,
    SubagentAnswer, SubagentProfile, SubagentSpec, SubagentStart, Worker, beneath_itself, in_background,
    request, result, too_deep,
};

/// Who asks for a sub-agent.
#[derive(Default)]
pub(super) struct Requester {
    pub(super) by: By,
    pub(super) call: Option<String>,
    /// What a person has approved for the call while it waited.
    pub(super) approved: Vec<Question>,
}

/// A sub-agent that was asked for.
pub(super) enum Started {
    /// It is started and waited for.
    Awaited(u64),
    /// There is a result at once.
    Answered(ToolResult),
}

impl Started {
    fn refused(why: String) -> Self {
        Self::Answered(ToolResult::refused(why))
    }
}

impl Session {
    /// The session of a sub-agent that starts.
    pub(crate) fn of_subagent(
        spec: SubagentSpec,
        slot: Slot,
        start: SubagentStart,
    ) -> Result<Self, SessionError> {
        let SubagentStart { prefix, started, activated, .. } = start;
        let observer = Arc::clone(&spec.hooks.observer);
        let log = SessionLog::start(spec.id, spec.agent.store.clone(), started, observer)?;
        let is_role = matches!(spec.worker, Worker::Role(_));
        let mut session = Self::subagent(spec, slot, log, prefix.into())?;
        let mut remark = None;
        if is_role {
            remark = session.offer_handoffs();
            session.prefix = with_hand_back(PromptPrefix::clone(&session.prefix), ROLE_RULES).into();
        }
        session.write_prefix()?;
        session.settle_tools();
        session.write_all(remark.into_iter().chain(activated.map(EventKind::Activated)))?;
        Ok(session)
    }

    /// The session of a sub-agent, new or resumed.
    pub(super) fn subagent(
        spec: SubagentSpec,
        slot: Slot,
        log: SessionLog,
        prefix: Arc<PromptPrefix>,
    ) -> Result<Self, SessionError> {
        let SubagentSpec { id, worker, line, depth, agent, skills, general, external, hooks, budget, .. } =
            spec;
        let lease = super::resume::lease(&agent.store, id)?;
        let RunHooks { cancel, ask, .. } = hooks;
        let limits = agent.limits;
        let mut session =
            Self::new(Parts { agent, skills, general, external, log, prefix, lease, cancel, ask });
        let (worker, slot) = (Some(worker), Some(slot));
        session.subagents =
            SubagentContext { budget, line, depth, worker, slot, ..SubagentContext::root(limits) };
        Ok(session)
    }

    pub(super) fn start_subagent(
        &mut self,
        request: &SubagentRequest,
        requester: &Requester,
    ) -> Result<Started, SessionError> {
        let (worker, kind) = match request {
            SubagentRequest::New { worker, kind } => (worker, kind.clone()),
            SubagentRequest::Resume(subagent) => return self.resume_subagent(subagent, requester),
        };
        let depth = self.agent.limits.depth;
        if let RequestedWorker::Skill(wanted) = worker
            && let Some(why) = beneath_itself(&self.subagents.line, &wanted.skill)
        {
            return Ok(Started::refused(why));
        }
        if self.subagents.depth >= depth {
            return Ok(Started::refused(too_deep(depth)));
        }
        let wanted = match worker {
            RequestedWorker::Skill(wanted) => wanted,
            RequestedWorker::CrewMember(at, request) => {
                let sent = self.send_crew_member(*at, request, requester);
                return Ok(sent.map_or_else(Started::refused, Started::Awaited));
            }
        };
        let control = CallControl {
            id: requester.call.as_deref(),
            approved: &requester.approved,
            ..CallControl::default()
        };
        let forked = self.skills.start_fork(wanted, control);
        let fork = match forked {
            Ok(fork) => fork,
            Err(error) => return Ok(Started::Answered(refused(error))),
        };
        // Decisions are written before what they allow is done.
        if let Some(decision) = &fork.decision {
            self.write_decided(requester.call.as_deref(), &wanted.skill, decision)?;
        }
        let external = Arc::clone(&self.external);
        Ok(match self.send_skill(fork, kind, requester, external) {
            Err(why) => Started::refused(why),
            Ok((_, id, SubagentMode::Background)) => {
                Started::Answered(ToolResult::done(in_background(&wanted.skill.name, id)))
            }
            Ok((number, ..)) => Started::Awaited(number),
        })
    }

    fn write_decided(
        &mut self,
        call: Option<&str>,
        skill: &Skill,
        decision: &Decision,
    ) -> Result<(), SessionError> {
        self.write(EventKind::Decided(Decided {
            call: call.map(str::to_owned),
            skill: Some(skill.name.clone()),
            action: format!("run the skill {skill} in a sub-agent"),
            verdict: verdict(decision.ruling),
            rule: Some(decision.to_string()),
            ..Decided::default()
        }))
    }

    /// Starts a skill in a sub-agent.
    fn send_skill(
        &mut self,
        fork: Fork,
        kind: SubagentMode,
        requester: &Requester,
        external: Arc<ExternalTools>,
    ) -> Result<(u64, SessionId, SubagentMode), String> {
        let mut remarks = Vec::new();
        let (named, background) = match &fork.activation.way {
            ActivationMode::Fork { agent, background } => (agent.clone(), background.unwrap_or_default()),
            ActivationMode::Inline => (None, false),
        };
        let kind = if kind == SubagentMode::Fork && background { SubagentMode::Background } else { kind };
        let Fork { content, activation, session: skills, .. } = fork;
        let profile = self.agent.subagent_profile(named.as_deref(), &activation.skill, &mut remarks);
        let skills = match &profile.scope {
            Some(rules) => skills.held_by(rules.clone()),
            None => skills,
        };
        let agent = self.agent_of_skill(&activation.scope, &profile, &mut remarks);
        let general = self.general.of_child();
        let mut prefix = skill_prefix(&content, &skills, (&general, &external), &kind, agent.surface);
        if !profile.instructions.trim().is_empty() {
            prefix.system.insert(0, profile.instructions.into());
        }
        let arguments = activation.arguments.text().into_owned();
        let started = self.subagent_started(&agent, &general, request(&arguments), named);
        let labels = skills.labels_of_last().unwrap_or_default();
        // Without a message: its text is the system prompt.
        let activated = store::Activated {
            digest: activation.digest.to_string(),
            arguments,
            notes: activation.notes.clone(),
            ..activated(&activation.skill, labels, requester.by)
        };
        let line = self.subagents.line.iter().cloned().chain([activation.skill.clone()]).collect();
        let id = SessionId::new().map_err(|error| not_started(&error))?;
        let spec = SubagentSpec {
            id,
            kind: kind.clone(),
            worker: Worker::Skill(activation.skill.name.clone()),
            line,
            depth: self.subagents.depth + 1,
            agent,
            skills,
            general,
            external,
            hooks: self.subagent_hooks()?,
            budget: Arc::clone(&self.subagents.budget),
        };
        let start = SubagentStart { prefix, started, activated: Some(activated), remarks };
        Ok((self.send_spec(spec, StartPoint::New(Box::new(start)), requester.call.clone())?, id, kind))
    }

    /// Starts a sub-agent, after those that wait already.
    pub(super) fn send_spec(
        &mut self,
        spec: SubagentSpec,
        start: StartPoint,
        call: Option<String>,
    ) -> Result<u64, String> {
        let deadline = self.time_left().map(|left| Instant::now() + left);
        let subagent = Subagent { spec, start, parent: Arc::clone(&self.log), call, deadline };
        let ticket = self.subagents.budget.queue.join(Place::Last);
        self.subagents.pool.send(subagent, ticket).map_err(|error| not_started(&error))
    }

    /// This agent as a skill in a sub-agent wants it: another model, fewer turns.
    pub(super) fn agent_of_skill(
        &self,
        scope: &SkillScope,
        profile: &SubagentProfile,
        remarks: &mut Vec<EventKind>,
    ) -> Agent {
        let preference = ModelPreference {
            skill: scope.skill.name.clone(),
            model: scope.model.clone().or_else(|| profile.model.clone()),
            effort: scope.effort.clone().or_else(|| profile.effort.clone()),
        };
        let mut agent = self.subagent_agent(&preference, remarks);
        for limit in scope.max_turns.into_iter().chain(profile.max_turns) {
            agent.limits.turns = agent.limits.turns.min(limit.get().into());
        }
        agent
    }

    /// The agent of a sub-agent: as this one, with the model that is asked for it.
    pub(super) fn subagent_agent(&self, preference: &ModelPreference, remarks: &mut Vec<EventKind>) -> Agent {
        let resolver = ModelResolver {
            models: self.agent.models.as_deref(),
            budget: &self.subagents.budget,
            ask: self.ask.as_deref(),
            current: &self.model.selection,
        };
        let (selection, said) = resolver.select(preference);
        remarks.extend(said);
        let mut agent = self.agent.clone();
        agent.selection = selection;
        agent.limits.turns = self.subagents.budget.max_turns();
        agent
    }

    /// The first event of a sub-agent.
    pub(super) fn subagent_started(
        &self,
        agent: &Agent,
        general: &GeneralTools,
        request: String,
        named: Option<String>,
    ) -> store::Started {
        let started = super::started(agent, general, request);
        store::Started { by: By::Parent, parent: Some(self.id()), agent: named, ..started }
    }

    /// Who observes, cancels and answers a sub-agent.
    pub(super) fn subagent_hooks(&self) -> Result<RunHooks, String> {
        let cancel = self.cancel.child().map_err(|error| not_started(&error))?;
        let observer = Arc::new(QuietObserver(Arc::clone(self.log.observer())));
        Ok(RunHooks { observer, cancel, ask: self.ask.clone() })
    }

    /// Runs a sub-agent that no call of the model asked for, and waits for it. `None` if it works in the background.
    pub(super) fn run_subagent(
        &mut self,
        fork: Fork,
        kind: SubagentMode,
        by: By,
        external: Arc<ExternalTools>,
    ) -> Result<Result<Option<SubagentAnswer>, String>, SessionError> {
        let skill = fork.activation.skill.name.clone();
        let (number, id, kind) =
            match self.send_skill(fork, kind, &Requester { by, ..Requester::default() }, external) {
                Ok(sent) => sent,
                Err(why) => return Ok(Err(why)),
            };
        if kind == SubagentMode::Background {
            let text = in_background(&skill, id);
            self.write(EventKind::Noted { text, about: NoteTopic::Subagent })?;
            return Ok(Ok(None));
        }
        let Some(finished) = self.await_subagent(number)? else {
            return Ok(Err("the sub-agent is gone".to_owned()));
        };
        let text = result(&finished.answer);
        self.write(EventKind::Noted { text, about: NoteTopic::Subagent })?;
        Ok(Ok(Some(finished.answer)))
    }

    /// Waits for one sub-agent. What others bring meanwhile is noted.
    pub(super) fn await_subagent(&mut self, number: u64) -> Result<Option<FinishedSubagent>, SessionError> {
        while let Some(finished) = self.subagents.pool.next() {
            if finished.number == number {
                return Ok(Some(finished));
            }
            self.write_note(&finished)?;
        }
        Ok(None)
    }
}

/// What precedes the messages of a skill's sub-agent: its skill's text, and the tools that its own list and those above allow.
fn skill_prefix(
    content: &str,
    skills: &SkillSession,
    (general, external): (&GeneralTools, &ExternalTools),
    kind: &SubagentMode,
    surface: Surface,
) -> PromptPrefix {
    let scopes = skills.scopes();
    let is_offered = |name: &str| {
        external.meant(name).is_none_or(|offered| scopes.rules().iter().all(|scope| scope.offers(offered)))
    };
    // A crew's skills have their two tools, those of servers, and `hand_back`.
    let is_bare = *kind == SubagentMode::Handoff && surface == Surface::SkilledCrew;
    let is_general = |name: &str| general.definitions().any(|definition| definition.name == name);
    let prefix = PromptPrefix::new(content, skills, general, external);
    let prefix = prefix.keeping(|name| is_offered(name) && !(is_bare && is_general(name)));
    if *kind == SubagentMode::Handoff { with_hand_back(prefix, HAND_BACK_RULES) } else { prefix }
}

fn not_started(why: &dyn std::fmt::Display) -> String {
    format!("cannot start a sub-agent: {why}")
}

fn refused(error: UseError) -> ToolResult {
    let text = error.to_string();
    match error {
        UseError::Waiting(decision) => ToolResult::waiting(decision),
        UseError::Activation(ActivationError::Gate { decision, .. }) => {
            ToolResult::refused(text).by(decision)
        }
        _ => ToolResult::refused(text),
    }
}

/// Who wants a skill, as the runtime knows them.
pub(super) fn requester(by: By) -> RuntimeBy {
    match by {
        By::Model => RuntimeBy::Model,
        By::User => RuntimeBy::User,
        By::Agent => RuntimeBy::Preload,
        _ => RuntimeBy::Caller,
    }
}
