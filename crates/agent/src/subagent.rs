//! Sub-agents: a skill or a crew member in a session of its own, of which the parent gets the answer and nothing else.
//!
//! ```text
//! a call, a user, a program ─► SubagentSpec ─► WorkQueue ─► Session::run ─► SubagentAnswer ─► the call's result, or a note
//! ```
//!
//! - [`WorkQueue`] lets two work at once below one session, and the rest in the order in which they came.
//! - [`SharedBudget`] is what a session and all its sub-agents share: the queue, what they use up, which providers the user agreed to.
//! - [`HandoffTool`] is a skill or a [`CrewMember`] as a tool, for an agent that hands over instead of activating.
//! - `wording` is what a model is told of all this.

mod crew_member;
mod directory;
mod handoff_tool;
mod pool;
mod queue;
mod shared_budget;
mod wording;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use metier_policy::Skill;
use metier_runtime::SkillSession;
use metier_store as store;
use metier_store::{Ended, EventKind, Outcome, RetryDecision, SessionId, Started, SubagentMode, Usage};
use metier_tools::{ExternalTools, GeneralTools};

pub use self::crew_member::CrewMember;
pub(crate) use self::crew_member::ROLE_RULES;
pub use self::directory::{AgentDirectory, SubagentProfile};
pub(crate) use self::handoff_tool::{
    HAND_BACK, HAND_BACK_RULES, HandBackTool, HandoffTarget, HandoffTool, handoff_tools,
};
pub(crate) use self::pool::{FinishedSubagent, SubagentPool};
pub(crate) use self::queue::{Place, Slot, Ticket, WorkQueue};
pub(crate) use self::shared_budget::SharedBudget;
pub(crate) use self::wording::{beneath_itself, in_background, note, request, result, too_deep};
use crate::agent::Agent;
use crate::observer::{EmittedEvent, Observer};
use crate::prompt_prefix::PromptPrefix;
use crate::session::{Answer, RunHooks, Session, SessionError, UncertainCall};
use crate::session_log::SessionLog;
use crate::state::SessionState;

/// How long a sub-agent that is out of time gets to end by itself before it is stopped: a model turn sees its time itself, and only a
/// tool that runs on has to be stopped from outside.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// What works in a sub-agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Worker {
    /// A skill, by its name.
    Skill(String),
    /// A crew member, by its name.
    Role(String),
}

impl Worker {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Skill(name) | Self::Role(name) => name,
        }
    }
}

impl std::fmt::Display for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Skill(name) => write!(f, "skill {name}"),
            Self::Role(name) => write!(f, "agent {name}"),
        }
    }
}

/// The answer of a sub-agent.
pub(crate) struct SubagentAnswer {
    /// Its session. One that never left the queue is not in the store.
    pub(crate) session: SessionId,
    /// What worked.
    pub(crate) worker: Worker,
    /// How it ended, with its last text and its sums; those of its own sub-agents are in them.
    pub(crate) ended: Ended,
    /// Whether a step of it waits for a person who could not be asked. The call that asked for the sub-agent has no result until then.
    pub(crate) is_waiting: bool,
}

impl SubagentAnswer {
    /// Whether it failed: it ended so, needs an approval, or returned no text.
    pub(crate) fn is_failure(&self) -> bool {
        let Ended { outcome, text, .. } = &self.ended;
        matches!(outcome, Outcome::Failed | Outcome::NeedsYes) || text.trim().is_empty()
    }

    /// The answer of one that has done nothing.
    pub(crate) fn without_work(spec: &SubagentSpec, outcome: Outcome, why: &str) -> Self {
        let ended = Ended {
            outcome,
            text: String::new(),
            why: Some(why.to_owned()),
            usage: Usage::default(),
            cost_micros: 0,
            turns: 0,
            calls: 0,
        };
        Self { session: spec.id, worker: spec.worker.clone(), ended, is_waiting: false }
    }
}

/// A sub-agent that is ready to start. It owns all it needs, so that it can wait and work on a thread of its own; until it has a slot
/// it is not in the store.
pub(crate) struct Subagent {
    pub(crate) spec: SubagentSpec,
    pub(crate) start: StartPoint,
    /// The log of its parent, and the call that asked for it.
    pub(crate) parent: Arc<SessionLog>,
    pub(crate) call: Option<String>,
    /// When its parent has no time left.
    pub(crate) deadline: Option<Instant>,
}

/// What a sub-agent works with.
pub(crate) struct SubagentSpec {
    pub(crate) id: SessionId,
    pub(crate) kind: SubagentMode,
    pub(crate) worker: Worker,
    /// The skills above it, its own at the end.
    pub(crate) line: Vec<Skill>,
    /// How many sessions are above it.
    pub(crate) depth: u32,
    pub(crate) agent: Agent,
    pub(crate) skills: SkillSession,
    pub(crate) general: GeneralTools,
    pub(crate) external: Arc<ExternalTools>,
    pub(crate) hooks: RunHooks,
    pub(crate) budget: Arc<SharedBudget>,
}

/// Where a sub-agent starts.
pub(crate) enum StartPoint {
    New(Box<SubagentStart>),
    /// Where it was when its process ended.
    Resume(Box<SessionState>),
}

/// What a new sub-agent starts with.
pub(crate) struct SubagentStart {
    pub(crate) prefix: PromptPrefix,
    pub(crate) started: Started,
    /// Its skill; a crew member has none.
    pub(crate) activated: Option<store::Activated>,
    /// What is odd about it.
    pub(crate) remarks: Vec<EventKind>,
}

impl Subagent {
    /// Waits for its slot and works.
    pub(crate) fn run(mut self, ticket: Ticket) -> SubagentAnswer {
        let why = "it was stopped before it started";
        let mut answer = SubagentAnswer::without_work(&self.spec, Outcome::Cancelled, why);
        let (runtime, cancel) = (Arc::clone(&self.spec.agent.runtime), self.spec.hooks.cancel.clone());
        let Some(slot) = runtime.block_on(ticket.wait(&cancel)) else { return answer };
        let max = self.spec.agent.limits.child_time;
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let time = left.map_or(max, |left| left.min(max));
        self.spec.agent.limits.time = Some(time);
        let is_late = Arc::new(AtomicBool::new(false));
        let late = Arc::clone(&is_late);
        let watchdog = runtime.spawn(async move {
            tokio::time::sleep(time.saturating_add(STOP_TIMEOUT)).await;
            late.store(true, Ordering::SeqCst);
            cancel.cancel();
        });
        let worked = self.work(slot);
        watchdog.abort();
        match worked {
            Ok((ended, is_waiting)) => {
                (answer.ended, answer.is_waiting) = (ended, is_waiting);
                if answer.ended.outcome == Outcome::Cancelled && is_late.load(Ordering::SeqCst) {
                    answer.ended.why = Some(format!("it took more than {} seconds", time.as_secs()));
                }
            }
            Err(error) => {
                answer.ended.outcome = Outcome::Failed;
                answer.ended.why = Some(error.to_string());
            }
        }
        answer
    }

    fn work(self, slot: Slot) -> Result<(Ended, bool), SessionError> {
        let Self { spec, start, parent, call, .. } = self;
        let (child, mode) = (spec.id, spec.kind.clone());
        let mut session = match start {
            StartPoint::New(mut start) => {
                let (skill, agent) = match &spec.worker {
                    Worker::Skill(name) => (Some(name.clone()), None),
                    Worker::Role(name) => (None, Some(name.clone())),
                };
                let remarks = std::mem::take(&mut start.remarks);
                let session = Session::of_subagent(spec, slot, *start)?;
                parent.append(EventKind::ChildBegan { child, call, skill, agent, mode })?;
                session.write_all(remarks)?;
                session
            }
            StartPoint::Resume(state) => Session::of_resumed_subagent(spec, slot, parent.session(), *state)?,
        };
        let Answer { ended, needs: missing } = session.run()?;
        let Ended { outcome, usage, cost_micros, calls, .. } = ended;
        parent.append(EventKind::ChildEnded { child, outcome, usage, cost_micros, calls, missing })?;
        Ok((ended, session.is_waiting()))
    }
}

/// Observes a sub-agent for the observer of its parent: events are passed on, pieces of answers are not, and a limit ends the
/// sub-agent, since several could ask at once.
pub(crate) struct QuietObserver(pub(crate) Arc<dyn Observer>);

impl Observer for QuietObserver {
    fn event(&self, event: &EmittedEvent) {
        self.0.event(event);
    }

    // One question at a time: see `SharedBudget::question`.
    fn uncertain_call(&self, call: &UncertainCall) -> RetryDecision {
        self.0.uncertain_call(call)
    }
}
