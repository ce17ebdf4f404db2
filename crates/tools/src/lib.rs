//! The tools that an agent has beside those of its skills.
//!
//! - [`GeneralTools`] are what skills count on: `Read`, `Glob`, `Grep`, `Write`, `Edit`, `Bash`, `WebFetch`, `ask_user`,
//!   `memory_save` and `memory_search`, one file each below `general/`.
//! - [`ExternalTools`] are the tools of MCP servers; a [`ToolServer`] lists and calls them. This crate knows no protocol.
//!
//! ```text
//! name, JSON ─► Form ─► Input ─► ResolvedPath ─────► Action ─► Executor::decide ─► the deed ─► ToolResult
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
//! no environment. The caller gives it a person to ask, a memory and a sandbox: see [`ToolContext`].
//!
//! ```
//! # use metier_testkit::Workspace;
//! # use metier_policy::{Action, Answers, Asking, Decision, Gate, Rules};
//! # use metier_exec::RunOutput;
//! # use metier_runtime::{Change, NotDone};
//! use metier_tools::{ToolContext, GeneralTools, Executor, RunJob, Running, Setting};
//! use serde_json::json;
//!
//! struct SkillSession(Rules);
//! impl Executor for SkillSession {
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
//! let context = ToolContext::new(&session, &active);
//! assert_eq!(tools.call("Read", &json!({ "file_path": "notes.md" }), &context).text, "1\tone\n2\ttwo\n");
//! assert!(tools.call("read_file", &json!({ "path": ".env" }), &context).text.contains("looks like a secret"));
//! let refused = tools.call("Write", &json!({ "file_path": "notes.md", "content": "three\n" }), &context);
//! assert_eq!(refused.decision.unwrap().allow_with[0].to_string(), "Write(notes.md)");
//! # Ok::<(), metier_files::Error>(())
//! ```

mod external;
mod general;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use external::{
    Annotated, ExternalTool, ExternalTools, MAX_EXTERNAL_DEFINITIONS, MAX_EXTERNAL_DESCRIPTION,
    MAX_EXTERNAL_RESULT, MAX_EXTERNAL_SCHEMA, MAX_EXTERNAL_TOOLS, ServerAnswer, ServerReport, ServerStatus,
    ToolServer,
};
pub use general::{
    ActiveSkill, Ask, Author, Effect, Executor, GeneralTools, Hear, Memory, NewRecord, NoAuthority, Offer,
    Record, Reply, RunJob, Running, Setting, ToolContext, ToolProvider, Wanted, Web, envelope, whose,
};

/// Locks, also after a panic: no holder of these locks leaves a value half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
