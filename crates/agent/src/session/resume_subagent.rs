//! Resumes sub-agents that were at work when the process of their parent ended: each continues from its own last finished step. Only a
//! step of theirs that may have run needs an approval, not everything before it.

use std::sync::Arc;

use metier_runtime::{ResumedFork, ToolResult};
use metier_store::{By, Ended, EventKind, EventQuery, NoteTopic, Outcome, SessionId, Store};

use super::effect::End;
use super::spawn::{Requester, Started};
use super::{Answer, Session, SessionError};
use crate::observer::StreamDelta;
use crate::session_log::SessionLog;
use crate::state::{Invoked, SessionState, StartedSubagent};
use crate::subagent::{
    FinishedSubagent, Slot, StartPoint, SubagentAnswer, SubagentSpec, Worker, note, result,
};
use metier_tools::ExternalTools;

/// What became of a sub-agent that was started.
pub(super) enum SubagentStatus {
    Ended(Ended),
    /// It was at work, or waits for a person.
    AtWork(Box<SessionState>),
    /// There is nothing to resume.
    Lost,
}

impl SubagentStatus {
    /// What became of a sub-agent, by its own events: its parent's process may have ended before it took note.
    pub(super) fn read(store: &Store, subagent: &StartedSubagent) -> Result<Self, SessionError> {
        let events = store.events(&EventQuery::of(subagent.id))?;
        let state = SessionState::replay(&events);
        let ended = events.into_iter().rev().find_map(|event| match event.kind {
            EventKind::Ended(ended) => Some(ended),
            _ => None,
        });
        let waits = state.outcome == Some(Outcome::NeedsYes) && !state.history.unfinished_calls().is_empty();
        Ok(match ended {
            Some(ended) if state.is_over && !waits => Self::Ended(ended),
            // A crew member has no skill of its own that would be activated.
            _ if state.prefix.is_none()
                || (matches!(subagent.worker, Worker::Skill(_)) && state.activated().is_empty()) =>
            {
                Self::Lost
            }
            _ => Self::AtWork(Box::new(state)),
        })
    }
}

impl Session {
    /// Whether a sub-agent was at work and can be resumed.
    pub(super) fn is_resumable(&self, subagent: &StartedSubagent) -> Result<bool, SessionError> {
        let SubagentStatus::AtWork(state) = SubagentStatus::read(&self.agent.store, subagent)? else {
            return Ok(false);
        };
        Ok(match &subagent.worker {
            Worker::Skill(name) => self.fork_again(name, &state).is_some(),
            Worker::Role(name) => self.agent.crew_member(name).is_some(),
        })
    }

    /// A skill's session as it was, with its external tools. A skill of another crew member has theirs.
    fn fork_again(&self, skill: &str, state: &SessionState) -> Option<(ResumedFork, Arc<ExternalTools>)> {
        if let Some(owner) = self.agent.owner_of(skill) {
            let (skills, external) = self.agent.crew_skills(owner, &self.skills).ok()?;
            return Some((skills.resume_fork(state.activated())?, external));
        }
        Some((self.skills.resume_fork(state.activated())?, Arc::clone(&self.external)))
    }

    /// Resumes a sub-agent.
    pub(super) fn resume_subagent(
        &mut self,
        subagent: &StartedSubagent,
        requester: &Requester,
    ) -> Result<Started, SessionError> {
        let refused = |why: String| Ok(Started::Answered(ToolResult::refused(why)));
        let SubagentStatus::AtWork(state) = SubagentStatus::read(&self.agent.store, subagent)? else {
            return refused("the sub-agent is gone".to_owned());
        };
        let mut remarks = Vec::new();
        let spec = match &subagent.worker {
            Worker::Skill(name) => self.skill_spec(subagent, name, &state, &mut remarks)?,
            Worker::Role(name) => match self.agent.crew_member(name) {
                Some(member) => self.crew_spec(member, subagent.id, &mut remarks),
                None => Err("this crew has no member of that name".to_owned()),
            },
        };
        self.write_all(remarks)?;
        let sent = spec.map_err(|why| format!("the {} cannot be resumed: {why}", subagent.worker));
        let sent =
            sent.and_then(|spec| self.send_spec(spec, StartPoint::Resume(state), requester.call.clone()));
        sent.map_or_else(refused, |number| Ok(Started::Awaited(number)))
    }

    /// What the sub-agent of a skill works with when it is resumed.
    fn skill_spec(
        &self,
        subagent: &StartedSubagent,
        skill: &str,
        state: &SessionState,
        remarks: &mut Vec<EventKind>,
    ) -> Result<Result<SubagentSpec, String>, SessionError> {
        let Some((ResumedFork { scope, session: mut skills, .. }, external)) = self.fork_again(skill, state)
        else {
            return Ok(Err("its skill is gone".to_owned()));
        };
        let named = self.agent.store.session(subagent.id)?.agent;
        let profile = self.agent.subagent_profile(named.as_deref(), &scope.skill, remarks);
        if let Some(rules) = &profile.scope {
            skills = skills.held_by(rules.clone());
        }
        let agent = self.agent_of_skill(&scope, &profile, remarks);
        Ok(self.subagent_hooks().map(|hooks| SubagentSpec {
            id: subagent.id,
            kind: subagent.mode.clone(),
            worker: subagent.worker.clone(),
            line: self.subagents.line.iter().cloned().chain([scope.skill]).collect(),
            depth: self.subagents.depth + 1,
            agent,
            skills,
            general: self.general.of_child(),
            external,
            hooks,
            budget: Arc::clone(&self.subagents.budget),
        }))
    }

    /// The session of a sub-agent that is resumed.
    pub(crate) fn of_resumed_subagent(
        spec: SubagentSpec,
        slot: Slot,
        parent: SessionId,
        state: SessionState,
    ) -> Result<Self, SessionError> {
        let Some(prefix) = state.prefix.clone() else { return Err(SessionError::NoPrefix(spec.id)) };
        // What it had used up is not in the budget of this process: its parent counts it when it has ended.
        let spent = state.run.spent;
        spec.budget.charge(spent.usage, spent.cost_micros);
        (0..spent.calls).for_each(|_| spec.budget.call());
        let observer = Arc::clone(&spec.hooks.observer);
        let log = SessionLog::resume(spec.agent.store.clone(), spec.id, Some(parent), state, observer);
        let mut session = Self::subagent(spec, slot, log, prefix)?;
        session.find_handoffs();
        let metier = env!("CARGO_PKG_VERSION").to_owned();
        session.write(EventKind::Resumed { by: By::Parent, metier })?;
        Ok(session)
    }

    /// Whether a call of a sub-agent waits for a person.
    pub(crate) fn is_waiting(&self) -> bool {
        self.state(|state| state.history.unfinished().next().is_some())
    }

    /// Takes the end of a sub-agent whose parent's process ended before it took note.
    pub(super) fn write_subagent_ended(
        &mut self,
        subagent: &StartedSubagent,
        ended: Ended,
    ) -> Result<SubagentAnswer, SessionError> {
        if subagent.outcome.is_none() {
            let Ended { outcome, usage, cost_micros, calls, .. } = ended;
            let (child, missing) = (subagent.id, Vec::new());
            self.write(EventKind::ChildEnded { child, outcome, usage, cost_micros, calls, missing })?;
        }
        let (session, worker) = (subagent.id, subagent.worker.clone());
        Ok(SubagentAnswer { session, worker, ended, is_waiting: false })
    }

    /// Continues the sub-agent that answers the user's message. `None` if it is gone: the model answers then.
    pub(super) fn continue_invoked(&mut self, invoked: &Invoked) -> Result<Option<Answer>, SessionError> {
        let subagent = &invoked.child;
        let answer = match SubagentStatus::read(&self.agent.store, subagent)? {
            SubagentStatus::Lost => {
                let text = self.close_lost(subagent, "its skill is gone")?;
                self.write(EventKind::Noted { text, about: NoteTopic::Subagent })?;
                return Ok(None);
            }
            SubagentStatus::Ended(ended) => self.write_subagent_ended(subagent, ended)?,
            SubagentStatus::AtWork(_) => {
                let sent =
                    self.resume_subagent(subagent, &Requester { by: By::User, ..Requester::default() })?;
                let number = match sent {
                    Started::Awaited(number) => number,
                    Started::Answered(result) => return self.finish(End::failed(result.text)).map(Some),
                };
                let Some(FinishedSubagent { answer, .. }) = self.await_subagent(number)? else {
                    return self.finish(End::failed("the sub-agent is gone".to_owned())).map(Some);
                };
                if answer.is_waiting {
                    return self
                        .finish(End::new(Outcome::NeedsYes, String::new(), answer.ended.why))
                        .map(Some);
                }
                answer
            }
        };
        if !invoked.is_told {
            self.write(EventKind::Noted { text: result(&answer), about: NoteTopic::Subagent })?;
        }
        let Ended { outcome, text, why, .. } = answer.ended;
        self.log.observer().delta(StreamDelta::Text(&text));
        self.finish(End::new(outcome, text, why)).map(Some)
    }

    /// Resumes the sub-agents in the background of a process that ended. The model is told what became of those that cannot be.
    pub(super) fn resume_background(&mut self) -> Result<(), SessionError> {
        let mut orphans = self.state(|state| state.subagents.background.clone());
        orphans.retain(|subagent| !self.subagents.pool.has(subagent.id));
        for subagent in orphans {
            let text = match SubagentStatus::read(&self.agent.store, &subagent)? {
                SubagentStatus::AtWork(_) if self.is_resumable(&subagent)? => {
                    match self
                        .resume_subagent(&subagent, &Requester { by: By::Agent, ..Requester::default() })?
                    {
                        Started::Awaited(_) => continue,
                        Started::Answered(result) => self.close_lost(&subagent, &result.text)?,
                    }
                }
                SubagentStatus::Ended(ended) => note(&self.write_subagent_ended(&subagent, ended)?),
                SubagentStatus::AtWork(_) | SubagentStatus::Lost => {
                    self.close_lost(&subagent, "its skill is gone")?
                }
            };
            self.write(EventKind::Noted { text, about: NoteTopic::Subagent })?;
        }
        Ok(())
    }

    /// Writes the end of a sub-agent that cannot be resumed. Returns what the model is told.
    fn close_lost(&mut self, subagent: &StartedSubagent, why: &str) -> Result<String, SessionError> {
        let summary = self.agent.store.session(subagent.id).ok();
        let (usage, cost_micros) =
            summary.as_ref().map(|summary| (summary.usage, summary.cost_micros)).unwrap_or_default();
        let (child, outcome, missing) = (subagent.id, Outcome::Cancelled, Vec::new());
        self.write(EventKind::ChildEnded { child, outcome, usage, cost_micros, calls: 0, missing })?;
        let name = subagent.worker.name();
        if summary.is_none() {
            return Ok(format!("The skill '{name}' that worked in the background is gone."));
        }
        Ok(format!(
            "The skill '{name}' that worked in the background as {} was interrupted when the process ended and cannot be \
             resumed: {why}. What it did until then may have happened.",
            subagent.id.short()
        ))
    }
}
