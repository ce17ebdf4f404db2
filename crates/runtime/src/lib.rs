//! Uses a skill: reads its files, runs its scripts and command lines contained, and says what came of it.
//!
//! Programs use it through `metier-sdk`, whose first page has an example. `examples/agent_loop.rs` is a whole loop around it.
//!
//! ```
//! # let workspace = metier_testkit::Workspace::new().skill("skills/greet", "Greets people by name.");
//! # let folder = workspace.join("skills");
//! use metier_runtime::{CallControl, Skills, ToolContext};
//! use serde_json::json;
//!
//! let session = Skills::open([folder]).session();
//! let context = ToolContext { skills: &session, control: CallControl::default() };
//! let tool = session.toolset().find("skill_use").unwrap();
//! let result = context.call(tool, &json!({ "skill_name": "greet" })); // plan, approve, execute
//! assert_eq!(result.text, "Skill 'greet' activated successfully. Instructions will follow.");
//! ```
//!
//! # The parts
//!
//! - [`Skills`] holds the skills, the rules and the sandbox; a [`SkillSession`] uses them.
//! - [`Tool`] is the one interface of tools: plan, approve, execute. [`ToolContext::call`] is the whole line.
//! - [`Toolset`] has the skills' tools for a model, in the shapes of several systems ([`Surface`]).
//!
//! A skill's text is made in `metier-activation`; scripts and command lines run in `metier-exec`.
//!
//! What this crate is not: it decides nothing (that is `metier-policy`), contains nothing by itself (that is
//! `metier-sandbox`), asks nobody, prints nothing and reads no environment: the search path, the home and the session are
//! given by whoever calls.

mod read_file;
mod skills;
mod tool;
mod toolset;

pub use skills::{
    ActiveSkill, Approval, ApprovalEvent, ApprovalHandler, ApprovalReply, ApprovalRequest, ApprovalStage,
    Fork, ForkRequest, Note, OutputListener, RestoredSkill, ResumedFork, ScriptCall, SkillLabels,
    SkillSecrets, SkillSession, Skills, SkillsBuilder, SourceError, UseError, UseResult, ValueSource, begin,
};
pub use tool::{
    CallControl, Definition, Field, FieldKind, FileChange, Form, Input, InputProblem, MetaMessage, Outcome,
    Plan, SideEffect, Tool, ToolContext, ToolFormat, ToolRegistry, ToolResult,
};
pub use toolset::{Coverage, Entrance, Refusal, Surface, Toolset, Visible, frontmatter};
