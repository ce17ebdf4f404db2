//! One session of an agent: the loop.
//!
//! ```text
//! message ─► Session ── step() ─► Effect: ask model | run tools | continue sub-agent | ask person | compact | finish
//!               ▲                     │ performed
//!               └── apply(Event) ◄────┘ every result is an event; the state changes nowhere else
//! ```
//!
//! [`Session::run`] is the whole loop: take the next [`Effect`] from the state, perform it, which appends events, and repeat. Nothing
//! about the progress of a run is kept outside the state, so a session that was killed continues by the same function.

mod approvals;
mod compact;
mod crew;
mod effect;
mod finish;
mod handoff;
mod message;
mod model_choice;
mod model_turn;
mod recall;
mod resume;
mod resume_subagent;
mod spawn;
mod subagents;
mod tool_dispatch;
mod uncertain;

use std::sync::Arc;
use std::time::Duration;

use metier_catalog::Unresolved;
use metier_runtime::{SkillSession, ToolRegistry};
use metier_store::{
    By, Ended, EventKind, EventQuery, Lease, MissingApproval, SessionId, Started, StoreError, Timestamp,
};
use metier_tools::{Ask, ExternalTools, GeneralTools, Memory, Setting};

pub use self::approvals::{OpenApproval, answer_approval, open_approvals};
pub use self::compact::Shortened;
use self::effect::Effect;
pub use self::message::UserMessage;
use self::model_choice::ModelChoice;
pub use self::resume::Resumed;
use self::subagents::SubagentContext;
pub use self::uncertain::UncertainCall;
use crate::agent::Agent;
use crate::cancel::CancelToken;
use crate::compaction::Depth;
use crate::limits::{Limits, Spent};
use crate::observer::Observer;
use crate::output_relay::OutputRelay;
use crate::prompt_prefix::PromptPrefix;
use crate::session_log::SessionLog;
use crate::state::SessionState;

/// How much of a call is shown where it is named, in characters: as much as a question shows.
const MAX_SHOWN_CALL: usize = 200;

/// One session.
pub struct Session {
    agent: Agent,
    skills: SkillSession,
    general: Arc<GeneralTools>,
    /// The tools of MCP servers.
    external: Arc<ExternalTools>,
    /// Every tool of the session: those of skills, general and external ones, handoffs.
    tools: Arc<ToolRegistry>,
    /// The events, and the state that they make. The state is empty while the session rests.
    log: Arc<SessionLog>,
    /// What precedes the messages of every request.
    prefix: Arc<PromptPrefix>,
    cancel: CancelToken,
    /// Shows what programs write while they run.
    relay: Arc<OutputRelay>,
    ask: Option<Arc<dyn Ask>>,
    /// The right to work on the session; `None` while it rests.
    lease: Option<Lease>,
    /// What the next run begins with.
    next: NextRun,
    /// What the model is told before its next turn.
    notes: Vec<String>,
    subagents: SubagentContext,
    model: ModelChoice,
}

/// What the next run begins with.
#[derive(Debug, Default)]
enum NextRun {
    /// What the state says.
    #[default]
    Continue,
    /// The message that started the session.
    Message(UserMessage),
    /// The work of a process that ended.
    Resume,
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How it ended, with the last text and the sums.
    pub ended: Ended,
    /// The approvals that were missing, if that is how it ended.
    pub needs: Vec<MissingApproval>,
}

/// Why a session cannot start or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// An event cannot be stored, and what is not stored is not done.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The project cannot be opened.
    #[error("cannot open the project: {0}")]
    Project(#[from] metier_files::Error),
    /// A skill cannot be used.
    #[error(transparent)]
    Skill(#[from] metier_runtime::UseError),
    /// Another process, or another `Session` of this one, works on it.
    #[error("session {} is busy with the last message: wait until that is done, or stop it", .0.short())]
    Busy(SessionId),
    /// Skills of the agent's own list cannot be used: all of them, at once.
    #[error("cannot use the agent's skills: {}", joined(.0))]
    Skills(Vec<Unresolved>),
    /// The call does not wait for an approval.
    #[error("the call `{0}` does not wait for an approval")]
    NotAsked(String),
    /// The session was never set up.
    #[error("session {0} has nothing to resume")]
    NoPrefix(SessionId),
}

pub(crate) fn joined(problems: &[Unresolved]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Who observes, stops and answers a session.
pub struct RunHooks {
    /// Gets every event and every piece of text.
    pub observer: Arc<dyn Observer>,
    /// Cancels it.
    pub cancel: CancelToken,
    /// Answers the model's questions to the user.
    pub ask: Option<Arc<dyn Ask>>,
}

/// What a session is made of.
struct Parts {
    agent: Agent,
    skills: SkillSession,
    general: GeneralTools,
    external: Arc<ExternalTools>,
    log: SessionLog,
    prefix: Arc<PromptPrefix>,
    lease: Lease,
    cancel: CancelToken,
    ask: Option<Arc<dyn Ask>>,
}

impl Session {
    /// Starts a session with the user's first message. [`Session::run`] works on it.
    pub fn start(
        agent: &Agent,
        setting: Setting,
        message: UserMessage,
        hooks: RunHooks,
    ) -> Result<Self, SessionError> {
        let external = Arc::new(ExternalTools::settle(agent.outside.as_ref()));
        let skills = agent.part.session(&agent.skills, agent.surface, &external, None);
        let skills = skills.map_err(SessionError::Skills)?;
        let general = GeneralTools::new(setting)?;
        let prefix = PromptPrefix::new(&agent.instructions, &skills, &general, &external);
        let prefix = agent.part.framed(prefix, &external).into();
        let started = Started { by: By::User, parent: None, ..started(agent, &general, message.text()) };
        let id = SessionId::new()?;
        let log = SessionLog::start(id, agent.store.clone(), started, hooks.observer)?;
        let lease = resume::lease(&agent.store, id)?;
        let skills = skills.named(&id.to_string());
        let RunHooks { cancel, ask, .. } = hooks;
        let agent = agent.clone();
        let mut session =
            Self::new(Parts { agent, skills, general, external, log, prefix, lease, cancel, ask });
        session.touch(metier_catalog::files_named(&message.text()));
        let remark = session.offer_handoffs();
        session.write_prefix()?;
        session.settle_tools();
        session.write_all(problems(&session.external).into_iter().chain(remark))?;
        if let UserMessage::Text(text) = &message {
            session.offer(text)?;
        }
        session.next = NextRun::Message(message);
        Ok(session)
    }

    fn new(parts: Parts) -> Self {
        let Parts { agent, mut skills, general, external, log, prefix, lease, cancel, ask } = parts;
        skills.cancel_with(cancel.processes().clone());
        let relay = Arc::new(OutputRelay::new(Arc::clone(log.observer())));
        let heard = Arc::clone(&relay);
        skills.listen_with(Arc::new(move |stream, piece: &[u8]| heard.hear(stream, piece)));
        skills.server_tools(external.known().clone());
        let log = Arc::new(log);
        approvals::record(&mut skills, &log);
        let (store, session, project) = (log.store().clone(), log.session(), general.project_shown());
        let memory = Memory { store, session, project };
        let general = Arc::new(general.with(ask.clone(), Some(memory)));
        Self {
            subagents: SubagentContext::root(agent.limits),
            model: ModelChoice::new(&agent),
            agent,
            skills,
            general,
            external,
            tools: Arc::default(),
            log,
            prefix,
            cancel,
            relay,
            ask,
            lease: Some(lease),
            next: NextRun::default(),
            notes: Vec::new(),
        }
    }

    /// Works until the message is answered, or cannot be.
    pub fn run(&mut self) -> Result<Answer, SessionError> {
        self.load()?;
        if let Some(answer) = self.begin_run()? {
            return Ok(answer);
        }
        self.resume_background()?;
        loop {
            self.collect_notes()?;
            match self.step() {
                Effect::AskModel => self.ask_model()?,
                Effect::RunTools(calls) => self.run_tools(calls)?,
                Effect::AskPerson(hit) => self.ask_about_limit(hit)?,
                Effect::ContinueSubagent(invoked) => {
                    if let Some(answer) = self.continue_invoked(&invoked)? {
                        return Ok(answer);
                    }
                }
                Effect::AwaitSubagents => self.await_subagents()?,
                Effect::Compact => {
                    self.shorten(Depth::AsNeeded, "the conversation nears the context window")?;
                    // As short as it can be: the provider may take it all the same.
                    self.ask_model()?;
                }
                Effect::Finish(end) => return self.finish(end),
            }
        }
    }

    /// Cancels the next run with this token, and not with the last one: each message of the user has its own.
    pub fn cancel_with(&mut self, cancel: CancelToken) {
        self.skills.cancel_with(cancel.processes().clone());
        self.cancel = cancel;
    }

    /// The session's id.
    pub fn id(&self) -> SessionId {
        self.log.session()
    }

    /// Reads the state. The log is locked meanwhile, so `read` must not write.
    fn state<R>(&self, read: impl FnOnce(&SessionState) -> R) -> R {
        self.log.state(read)
    }

    /// The limits of this run, with everything that was extended.
    fn limits(&self) -> Limits {
        self.state(|state| state.run.limits(&self.agent.limits))
    }

    /// What this run has spent.
    fn spent(&self) -> Spent {
        self.state(|state| state.run.spent)
    }

    /// How long this run has taken.
    fn worked(&self) -> Duration {
        self.state(|state| state.run.clock.worked(Timestamp::now()))
    }

    /// How much of the run's time is left, if it is limited.
    fn time_left(&self) -> Option<Duration> {
        self.limits().time.map(|time| time.saturating_sub(self.worked()))
    }

    /// The user's last message.
    fn user_text(&self) -> Arc<str> {
        self.state(|state| state.history.words.clone()).unwrap_or_default()
    }

    /// Drops the state until it is needed again: it is in the store. Meanwhile others may continue the session.
    pub fn rest(&mut self) {
        if self.log.settle().is_ok() {
            self.log.set_state(SessionState::default());
            self.lease = None;
        }
    }

    /// Loads the state again after [`Session::rest`].
    fn load(&mut self) -> Result<(), SessionError> {
        if self.lease.is_none() {
            let lease = resume::lease(&self.agent.store, self.id())?;
            // Another process may have continued the session meanwhile.
            let events = self.agent.store.events(&EventQuery::of(self.id()))?;
            self.log.set_state(SessionState::replay(&events));
            self.lease = Some(lease);
        }
        Ok(())
    }

    /// Appends an event to the log.
    fn write(&self, kind: EventKind) -> Result<(), SessionError> {
        Ok(self.log.append(kind)?)
    }

    pub(crate) fn write_all(&self, kinds: impl IntoIterator<Item = EventKind>) -> Result<(), SessionError> {
        kinds.into_iter().try_for_each(|kind| self.write(kind))
    }

    /// Writes what precedes the messages, and takes it from the state: what is sent is what is stored.
    fn write_prefix(&mut self) -> Result<(), SessionError> {
        self.write(EventKind::Framed(self.prefix.stored()))?;
        if let Some(prefix) = self.state(|state| state.prefix.clone()) {
            self.prefix = prefix;
        }
        Ok(())
    }
}

/// The first event of a session.
fn started(agent: &Agent, general: &GeneralTools, request: String) -> Started {
    let snapshot = agent.skills.snapshot();
    Started {
        request,
        project: general.project_shown(),
        model: Some(agent.selection.model.id().to_string()),
        agent: agent.part.name.clone(),
        surface: Some(agent.surface.to_string()),
        metier: env!("CARGO_PKG_VERSION").to_owned(),
        loaded: snapshot.loaded() as u64,
        failed: snapshot.failures().len() as u64,
        ..Started::default()
    }
}

/// What MCP servers should offer and do not, as events.
fn problems(external: &ExternalTools) -> Vec<EventKind> {
    let problems = external.problems().iter().cloned();
    problems.map(|(at, message)| EventKind::Failed { at, message }).collect()
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.log.session()).finish_non_exhaustive()
    }
}
