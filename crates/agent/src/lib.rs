//! Does the work: what an agent needs around a model and its skills.
//!
//! - [`Agent`] is skills, a model and a store; a [`Session`] is one conversation of it: the loop. Everything that happens is an event
//!   in the store first and in [`Observer`] second; [`History`] makes the messages of those very events, so that what was sent can be
//!   sent again, tomorrow and by another process.
//! - [`Limits`] end a run with what is there, [`CancelToken`] stops it from outside.
//! - [`Agent::with_role`] and [`Agent::with_crew`] turn a definition (`metier-definition`) into an agent.
//! - The tools themselves are elsewhere: those of skills in `metier-runtime`, general ones and those of MCP servers in `metier-tools`.
//!
//! What this crate is not: it knows no provider and no protocol, keeps nothing on disk, prints nothing and reads no environment. The
//! caller gives it a person to ask, a memory and a sandbox.
//!
//! ```
//! # let workspace = metier_testkit::Workspace::new().file("skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n");
//! # let folder = workspace.join("skills");
//! use std::sync::Arc;
//!
//! use metier_agent::{Agent, CancelToken, NoObserver, RunHooks, Session, UserMessage};
//! use metier_model::{Scripted, Turn};
//! use metier_runtime::Skills;
//! use metier_store::Store;
//! use metier_tools::Setting;
//!
//! // A model that answers what it was told to; see `metier-model` for others.
//! let model = Arc::new(Scripted::new([Turn::says("Hello, Ada.")]));
//! let runtime = Arc::new(tokio::runtime::Builder::new_current_thread().enable_all().build()?);
//! let agent = Agent::new(Skills::open([folder]), model, Store::in_memory()?, runtime);
//! let hooks = RunHooks { observer: Arc::new(NoObserver), cancel: CancelToken::new()?, ask: None };
//! let mut session = Session::start(&agent, Setting::default(), UserMessage::Text("Greet Ada.".to_owned()), hooks)?;
//! assert_eq!(session.run()?.ended.text, "Hello, Ada.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agent;
mod agent_profile;
mod cancel;
mod compaction;
mod from_definition;
mod history;
mod limits;
mod models;
mod observer;
mod output_relay;
mod prompt_prefix;
mod recall;
mod recorded_changes;
mod repeat_guard;
mod session;
mod session_log;
mod state;
mod subagent;

pub use agent::{Agent, Disclosure};
pub use agent_profile::AgentProfile;
pub use cancel::CancelToken;
pub use compaction::{Compaction, DEFAULT_WINDOW};
pub use from_definition::{defined_agent, role_setting};
pub use history::{Extent, History};
pub use limits::{LimitHit, Limits, Spent};
/// Whether an interrupted call runs again.
pub use metier_store::RetryDecision;
pub use models::{ModelSelection, Models};
pub use observer::{EmittedEvent, NoObserver, Observer, OnLimit, StreamDelta};
pub use prompt_prefix::INSTRUCTIONS;
pub use session::{
    Answer, OpenApproval, Resumed, RunHooks, Session, SessionError, Shortened, UncertainCall, UserMessage,
    answer_approval, open_approvals,
};
pub use subagent::{AgentDirectory, CrewMember, SubagentProfile};

/// Locks, also after a panic: no holder of these locks leaves a value half changed.
pub(crate) fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
