//! The sub-agents of a session while they work: which calls ask for one, and what becomes of their answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use metier_model::ToolCall;
use metier_policy::Skill;
use metier_runtime::{ForkRequest, ToolResult};
use metier_skill::Tool;
use metier_store::{EventKind, NoteTopic, SubagentMode};
use serde_json::{Value, json};

use super::tool_dispatch::{CallOutput, PlannedCall, unknown_tool};
use super::{Session, SessionError};
use crate::limits::Limits;
use crate::state::StartedSubagent;
use crate::subagent::{
    FinishedSubagent, HandoffTarget, HandoffTool, Place, SharedBudget, Slot, SubagentAnswer, SubagentPool,
    Worker, note, result,
};

/// What relates a session to its parent and its sub-agents.
pub(super) struct SubagentContext {
    /// Shared with all sessions above and below.
    pub(super) budget: Arc<SharedBudget>,
    /// The skills that run above it and in it.
    pub(super) line: Vec<Skill>,
    /// How many sessions are above it.
    pub(super) depth: u32,
    /// What works in it, if it is a sub-agent.
    pub(super) worker: Option<Worker>,
    /// A sub-agent's right to work, lent while it waits for its own sub-agents.
    pub(super) slot: Option<Slot>,
    pub(super) pool: SubagentPool,
    /// Skills and crew members as tools, if the agent hands over.
    pub(super) handoffs: Vec<HandoffTool>,
}

impl SubagentContext {
    /// A session that is not a sub-agent.
    pub(super) fn root(limits: Limits) -> Self {
        Self {
            budget: Arc::new(SharedBudget::new(limits)),
            line: Vec::new(),
            depth: 0,
            worker: None,
            slot: None,
            pool: SubagentPool::default(),
            handoffs: Vec::new(),
        }
    }

    pub(super) fn is_subagent(&self) -> bool {
        self.worker.is_some()
    }
}

/// A sub-agent that a call asks for.
pub(super) enum SubagentRequest {
    /// A new one.
    New { worker: RequestedWorker, kind: SubagentMode },
    /// One that was at work when its process ended.
    Resume(StartedSubagent),
}

/// Who is to work.
pub(super) enum RequestedWorker {
    /// A skill.
    Skill(ForkRequest),
    /// A crew member, by its place in the crew, with its request.
    CrewMember(usize, String),
}

impl Session {
    /// The sub-agent that a call asks for, if it does.
    pub(super) fn subagent_request(&self, call: &ToolCall) -> Option<SubagentRequest> {
        let started = self.state(|state| state.calls.started.get(&*call.id)?.subagent.clone());
        if let Some(subagent) = started {
            return Some(SubagentRequest::Resume(subagent));
        }
        let input = Value::Object(call.arguments.fields()?.clone());
        let (worker, kind) = if let Some(handoff) = self.handoff(&call.name) {
            // A handoff without a request carries the user's last message.
            let request = HandoffTool::request(&input).unwrap_or_else(|| self.user_text().to_string());
            let worker = match &handoff.target {
                HandoffTarget::Skill(skill) => {
                    RequestedWorker::Skill(self.skills.handoff_request(skill, &request)?)
                }
                HandoffTarget::CrewMember(at) => RequestedWorker::CrewMember(*at, request),
            };
            (worker, SubagentMode::Handoff)
        } else {
            let wanted = self.skills.fork_request(&call.name, &input)?;
            if self.why_not_offered(&call.name).is_some() {
                return None;
            }
            (RequestedWorker::Skill(wanted), SubagentMode::Fork)
        };
        Some(SubagentRequest::New { worker, kind })
    }

    /// The handoff of this name.
    pub(super) fn handoff(&self, name: &str) -> Option<&HandoffTool> {
        self.subagents.handoffs.iter().find(|handoff| handoff.definition.name == name)
    }

    /// Why a sub-agent may not call a tool: it was not offered.
    pub(super) fn why_not_offered(&self, name: &str) -> Option<String> {
        // A sub-agent that is resumed alone has no scope of its parent, so its tools are the only fence that is left.
        let is_fenced = self.subagents.is_subagent() || self.log.parent().is_some();
        let same = Tool::named(name);
        let mut tools = self.prefix.tools.iter();
        let is_offered =
            tools.any(|tool| *tool.name == *name || (same.is_some() && Tool::named(&tool.name) == same));
        if !is_fenced || is_offered {
            return None;
        }
        let skill = self.subagents.worker.as_ref().map(Worker::name).unwrap_or_default();
        Some(unknown_tool(name, Some(skill), &self.prefix.names()))
    }

    /// Waits for the sub-agents of calls. Each result is written when it is there.
    pub(super) fn await_calls(
        &mut self,
        batch: &[PlannedCall],
        mut awaited: HashMap<u64, (usize, Instant)>,
    ) -> Result<(), SessionError> {
        if awaited.is_empty() {
            return Ok(());
        }
        let was_working = self.lend_slot();
        while !awaited.is_empty() {
            let Some(finished) = self.subagents.pool.next() else { break };
            let Some((at, since)) = awaited.remove(&finished.number) else {
                self.write_note(&finished)?;
                continue;
            };
            // Its call has no result until a person has answered.
            if finished.answer.is_waiting {
                continue;
            }
            let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            let result = subagent_result(&finished.answer, &batch[at].call.name);
            self.write_result(&batch[at], CallOutput { result, ms })?;
        }
        self.take_slot(was_working);
        Ok(())
    }

    /// A session that waits for sub-agents does not work: its slot is theirs meanwhile, else none of them could ever start.
    fn lend_slot(&mut self) -> bool {
        self.subagents.slot.take().is_some()
    }

    fn take_slot(&mut self, was_working: bool) {
        if was_working {
            let ticket = self.subagents.budget.queue.join(Place::Returning);
            self.subagents.slot = self.agent.runtime.block_on(ticket.wait(&self.cancel));
        }
    }

    /// A sub-agent in the background has ended: its result becomes a part of the conversation.
    pub(super) fn write_note(&mut self, finished: &FinishedSubagent) -> Result<(), SessionError> {
        self.write(EventKind::Noted { text: note(&finished.answer), about: NoteTopic::Subagent })
    }

    /// Writes what sub-agents in the background have brought meanwhile, and what else the model is told before its next turn.
    pub(super) fn collect_notes(&mut self) -> Result<(), SessionError> {
        while let Some(finished) = self.subagents.pool.ready() {
            self.write_note(&finished)?;
        }
        for text in std::mem::take(&mut self.notes) {
            self.write(EventKind::Noted { text, about: NoteTopic::Skills })?;
        }
        Ok(())
    }

    /// The work touches files: the model is told of skills for them before its next turn.
    pub(super) fn touch<'p>(&mut self, files: impl IntoIterator<Item = &'p str>) {
        let note = self.skills.touch(files);
        self.notes.extend(note);
    }

    /// Waits for the sub-agents in the background, as long as the agent's patience lasts, and stops the rest.
    pub(super) fn await_subagents(&mut self) -> Result<(), SessionError> {
        if self.subagents.pool.is_empty() {
            return Ok(());
        }
        let was_working = self.lend_slot();
        let until = Instant::now() + self.agent.patience;
        while let Some(finished) = self.subagents.pool.next_until(until, &self.cancel, &self.agent.runtime) {
            self.write_note(&finished)?;
        }
        self.subagents.pool.stop();
        self.await_stopped()?;
        self.take_slot(was_working);
        Ok(())
    }

    /// Waits for sub-agents that were stopped: each returns what it has.
    pub(super) fn await_stopped(&mut self) -> Result<(), SessionError> {
        while let Some(finished) = self.subagents.pool.next() {
            self.write_note(&finished)?;
        }
        Ok(())
    }
}

/// The result of a call that asked for a sub-agent.
pub(super) fn subagent_result(answer: &SubagentAnswer, tool: &str) -> ToolResult {
    let text = result(answer);
    let text = match tool {
        "load_skill" => json!({ "skill_name": answer.worker.name(), "result": text }).to_string(),
        _ => text,
    };
    let failed = answer.is_failure();
    let outcome = if failed { metier_runtime::Outcome::Failed } else { metier_runtime::Outcome::Done };
    ToolResult { text, outcome, ..ToolResult::default() }
}
