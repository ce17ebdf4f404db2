//! The tools that an agent has beside those of its skills.
//!
//! - [`GeneralTools`] are what skills count on: `Read`, `Glob`, `Grep`, `Write`, `Edit`, `Bash`, `WebFetch`, `ask_user`,
//!   `memory_save` and `memory_search`, one file each below `general/`.
//! - [`ExternalTools`] are the tools of MCP servers; a [`ToolServer`] lists and calls them. This crate knows no protocol.
//!
//! Both implement [`metier_runtime::Tool`]: a call is planned, approved and executed by the one line of that crate.
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
//! no environment. The caller gives it a person to ask and a memory: see [`GeneralTools::with`].
//!
//! ```
//! # use metier_testkit::Workspace;
//! use std::sync::Arc;
//! use metier_runtime::{CallControl, Skills, ToolContext, ToolRegistry};
//! use metier_tools::{GeneralTools, Setting};
//! use serde_json::json;
//!
//! # let workspace = Workspace::new().file("app/notes.md", "one\ntwo\n").file("app/.env", "TOKEN=x");
//! # let folder = workspace.join("app");
//! let skills = Skills::open([] as [&str; 0]).session(); // No one can be asked here.
//! let general = Arc::new(GeneralTools::new(Setting { project: Some(folder), ..Setting::default() })?);
//! let mut tools = ToolRegistry::default();
//! tools.add(general.registered());
//!
//! let context = ToolContext { skills: &skills, control: CallControl::default() };
//! let call = |name, input| context.call(tools.find(name).unwrap(), &input);
//! assert_eq!(call("Read", json!({ "file_path": "notes.md" })).text, "1\tone\n2\ttwo\n");
//! assert!(call("read_file", json!({ "path": ".env" })).text.contains("looks like a secret"));
//! let refused = call("Write", json!({ "file_path": "notes.md", "content": "three\n" }));
//! assert_eq!(refused.decision.unwrap().allow_with[0].to_string(), "Write(notes.md)");
//! # Ok::<(), metier_files::Error>(())
//! ```

mod external;
mod general;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use external::{
    ExternalTool, ExternalTools, MAX_EXTERNAL_DEFINITIONS, MAX_EXTERNAL_DESCRIPTION, MAX_EXTERNAL_RESULT,
    MAX_EXTERNAL_SCHEMA, MAX_EXTERNAL_TOOLS, ServerAnswer, ServerReport, ServerStatus, ToolServer,
    offered_name,
};
pub use general::{
    Ask, GeneralTools, Memory, PageResolver, ProxyFor, Reply, Setting, SystemResolver, Web, envelope,
};

/// Locks, also after a panic: no holder of these locks leaves a value half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
