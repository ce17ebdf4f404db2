//! Uses a skill: reads its files, runs its scripts and command lines contained, and says what came of it.
//!
//! # In a program that has a model
//!
//! [`Skills`] is what a program opens once, [`Session`] is one conversation. What the model is told and what it may call are
//! texts and JSON; whose model it is, and how it is asked, is the program's own matter.
//!
//! ```standalone_crate
//! # let workspace = metier_testkit::Workspace::new()
//! #     .file("skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets people by name.\n---\nSay hello to $ARGUMENTS.\n")
//! #     .file("skills/greet/scripts/hello.sh", "echo hello $1");
//! # let folder = workspace.join("skills");
//! use metier_runtime::{Skills, ToolFormat, begin};
//! use serde_json::json;
//!
//! begin(std::env::args_os()); // First thing in `main`: what runs is contained by this very program.
//! let skills = Skills::open([folder]);
//! let mut session = skills.session();
//!
//! let system_prompt = format!("You are a helpful assistant.\n\n{}", session.catalog());
//! let tools = session.tools(ToolFormat::OpenAi);
//! // … ask the model with both; it answers with calls of tools:
//! let used = session.call("skill_use", &json!({ "skill_name": "greet", "arguments": "Ada" }));
//! assert_eq!(used.text, "Skill 'greet' activated successfully. Instructions will follow.");
//! assert!(used.message.unwrap().text.contains("Say hello to Ada."));
//!
//! let ran = session.call("skill_run_script", &json!({ "skill_name": "greet", "script_name": "hello.sh", "script_args": "Ada" }));
//! assert_eq!(ran.text, "hello Ada");
//! # assert!(system_prompt.contains("- **greet**: Greets people by name."));
//! # assert_eq!(tools[0]["function"]["name"], "skill_use");
//! ```
//!
//! `examples/agent_loop.rs` is a whole loop around it, docs/library.md says more.
//!
//! # The parts
//!
//! - [`Skills`] holds the skills, the rules and the sandbox; a [`Session`] uses them.
//! - [`Toolset`] has the skills' tools for a model, in the shapes of several systems ([`Surface`]).
//!
//! A skill's text is made in `metier-activation`; scripts and command lines run in `metier-exec`.
//!
//! What this crate is not: it decides nothing (that is `metier-policy`), contains nothing by itself (that is
//! `metier-sandbox`), asks nobody, prints nothing and reads no environment: the search path, the home and the session are
//! given by whoever calls.

mod read_file;
mod skills;
mod toolset;

pub use read_file::{ReadError, read_file};
pub use skills::{
    Active, ChildWanted, Fork, ForkAgain, GivenAnswer, Labels, Listener, NotUsed, Note, OwnJob, Respondent,
    Restored, ScriptCall, Session, SkillSecrets, Skills, SkillsBuilder, Used, ValueSource, begin,
};
pub use toolset::{
    Activate, Change, Coverage, Definition, Desk, Entrance, Field, Form, Hands, Hit, InUse, Input,
    InputProblem, Job, Kind as FieldKind, MetaMessage, Need as FieldNeed, NotDone, Outcome, Refusal, Search,
    Sight, Surface, Told, ToolFormat, ToolResult, Toolset, Use, Visible, Work, WorkKind, frontmatter,
};
