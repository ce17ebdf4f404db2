//! Does the work: what an agent needs around a model and its skills.
//!
//! - [`Agent`] is skills, a model and a store; a [`Session`] is one conversation of it: the loop. Everything that happens is an event
//!   in the store first and in [`Observer`] second; [`History`] makes the messages of those very events, so that what was sent can be
//!   sent again, tomorrow and by another process.
//! - [`Limits`] end a run with what is there, [`CancelToken`] stops it from outside.
//! - [`Agent::with_role`] and [`Agent::with_crew`] turn a definition (`metier-definition`) into an agent.
//! - [`GeneralTools`] are what skills count on: `Read`, `Glob`, `Grep`, `Write`, `Edit`, `Bash`, `WebFetch`, `ask_user`,
//!   `memory_save` and `memory_search`, one file each below `tools/`.
//! - [`OutsideTools`] are the tools of MCP servers. The agent knows no protocol.
//!
//! ```text
//! name, JSON ─► Form ─► Input ─► Spot ─────► Action ─► Hands::decide ─► the deed ─► ToolResult
//!               what    what a   where a     for the   gate, fence,     beneath a   text, notes,
//!               it is   model    path leads  gate      a question       handle      change
//!                       gave
//! ```
//!
//! What holds for every call:
//!
//! - **The gate is asked**, reads included, about where a path really leads, and before anything is touched.
//! - **Nothing outside** of the project, the folders of active skills and the session's own outputs is opened. Every file is
//!   opened beneath a held folder, without a link on its way; pipes and devices never make anyone wait.
//! - **Files that look like secrets** are neither read, found, searched nor overwritten.
//! - **What a model sees is bounded**, each bound has its reason beside it, and what is left out is said.
//! - **Mistakes are answered** with what to do instead; no input of a model is a panic or a guess.
//!
//! What this crate is not: it knows no provider, keeps nothing on disk but the rest of long outputs, prints nothing and reads
//! no environment. The caller gives it a person to ask, a memory and a sandbox: see [`Desk`].
//!
//! ```
//! # use metier_testkit::Workspace;
//! # use metier_policy::{Action, Answers, Asking, Decision, Gate, Rules};
//! # use metier_exec::RunOutput;
//! # use metier_runtime::{Change, NotDone};
//! use metier_agent::{Desk, GeneralTools, Hands, RunJob, Running, Setting};
//! use serde_json::json;
//!
//! struct SkillSession(Rules);
//! impl Hands for SkillSession {
//!     fn decide(&self, action: &Action, _shown: Option<&Change>) -> Decision {
//!         self.judge(action) // Nobody can be asked here.
//!     }
//!     fn judge(&self, action: &Action) -> Decision {
//!         Gate { rules: &self.0, answers: &Answers::default(), scopes: &[], asking: Asking::Nobody }.decide(action)
//!     }
//!     fn run(&self, _running: &Running, _job: &mut RunJob<'_>) -> Result<RunOutput, NotDone> {
//!         Err(NotDone::Trouble("nothing runs in this example".to_owned()))
//!     }
//! }
//!
//! # let workspace = Workspace::new().file("app/notes.md", "one\ntwo\n").file("app/.env", "TOKEN=x");
//! # let folder = workspace.join("app");
//! let tools = GeneralTools::new(Setting { project: Some(folder), ..Setting::default() })?;
//! let (session, active) = (SkillSession(Rules::default()), []);
//! let desk = Desk::new(&session, &active);
//! assert_eq!(tools.call("Read", &json!({ "file_path": "notes.md" }), &desk).text, "1\tone\n2\ttwo\n");
//! assert!(tools.call("read_file", &json!({ "path": ".env" }), &desk).text.contains("looks like a secret"));
//! let refused = tools.call("Write", &json!({ "file_path": "notes.md", "content": "three\n" }), &desk);
//! assert_eq!(refused.decision.unwrap().allow_with[0].to_string(), "Write(notes.md)");
//! # Ok::<(), metier_files::Error>(())
//! ```

mod agent;
mod agent_profile;
mod cancel;
mod compaction;
mod from_definition;
mod history;
mod limits;
mod memory_store;
mod models;
mod observer;
mod output_relay;
mod outside;
mod policy_adapter;
mod prompt_prefix;
mod recall;
mod recorded_changes;
mod repeat_guard;
mod session;
mod session_log;
mod state;
mod subagent;
mod tools;

pub use agent::{Agent, Disclosure, Patience};
pub use agent_profile::AgentProfile;
pub use cancel::CancelToken;
pub use compaction::{Compaction, DEFAULT_WINDOW};
pub use from_definition::DefinedAgents;
pub use history::{Extent, History};
pub use limits::{Limit, LimitHit, Limits, Spent};
pub use models::Models;
pub use observer::{EmittedEvent, NoObserver, Observer, OnLimit, RetryDecision, StreamDelta};
pub use outside::{
    Annotated, Footing, MAX_OUTSIDE_DEFINITIONS, MAX_OUTSIDE_DESCRIPTION, MAX_OUTSIDE_RESULT,
    MAX_OUTSIDE_SCHEMA, MAX_OUTSIDE_TOOLS, OutsideAnswer, OutsideTool, OutsideTools, ServerStanding,
};
pub use prompt_prefix::INSTRUCTIONS;
pub use session::{
    Answer, Remaining, Resumed, RunHooks, Session, SessionError, Shortened, UncertainCall, UserMessage,
};
pub use subagent::{AgentDirectory, CrewMember, SubagentAnswer, SubagentKind, SubagentProfile, Worker};
pub use tools::{
    ActiveSkill, Ask, Author, Desk, Effect, GeneralTools, Hands, Hear, Memory, NewRecord, NoAuthority, Offer,
    Record, Reply, RunJob, Running, Setting, Wanted, Web, Whose, whose,
};
