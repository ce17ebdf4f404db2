//! Agent Skills for a program that has a model and a loop of its own.
//!
//! [`Skills`] is what a program opens once, a [`SkillSession`] is one conversation. What the model is told and what it may call are texts
//! and JSON; which model it is, and how it is asked, is the program's own matter.
//!
//! ```standalone_crate
//! # let workspace = metier_testkit::Workspace::new()
//! #     .file("skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets people by name.\n---\nSay hello to $ARGUMENTS.\n")
//! #     .file("skills/greet/scripts/hello.sh", "echo hello $1");
//! # let folder = workspace.join("skills");
//! use metier_sdk::{Skills, ToolFormat, begin};
//! use serde_json::json;
//!
//! begin(std::env::args_os()); // First thing in `main`: what runs is contained by this very program.
//! let skills = Skills::open([folder]);
//! let session = skills.session();
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
//! docs/library.md says more. Whoever needs other parts uses the crates below: `metier-skill` parses, `metier-catalog` finds,
//! `metier-policy` decides, `metier-sandbox` contains.

pub use metier_exec::{RunOutput, SkillArguments};
pub use metier_policy::{Answer, Mode};
pub use metier_runtime::{
    ApprovalReply, ApprovalRequest, Fork, Note, Outcome, ScriptCall, SkillSession, Skills, SkillsBuilder,
    Surface, ToolFormat, ToolResult, UseError, begin,
};
