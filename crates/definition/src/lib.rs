//! Agents and crews that are written down, and the slash commands that come with them.
//!
//! ```text
//! agents/x.md, .claude/agents/x.md ─► markdown ─┐
//! x.skilled_crew.yaml ──────────────► crew ─────┴─► AgentDefinition ─► check ─► valid, or every problem with its line
//! ```
//!
//! - [`AgentDefinition::parse`] parses a text and never fails: each problem is a diagnostic with its line.
//! - [`AgentDefinition::read`] reads a file and the files that it names: instructions, commands and servers.
//! - [`ParsedDefinition::check`] resolves its references to skills, models and servers. An unresolved one is an error, and an
//!   agent with an error does not start.
//! - [`definitions`] finds the files of a project and of its user.
//! - [`SlashCommands::parse`] says what a typed line means: a message, a command or a skill.
//!
//! What this crate is not: it decides no trust, starts nothing, asks no model and knows nothing of the agent's loop. `metier-agent`
//! turns a definition into an agent; the caller has asked whether the project is trusted.
//!
//! ```
//! use metier_definition::{AgentDefinition, DefinitionFormat};
//! use std::path::Path;
//!
//! let text = "---\nname: reviewer\nskills: [review-code]\nlimits: {turns: 0}\n---\nReview it.\n";
//! let file = Path::new("/project/.metier/agents/reviewer.md").into();
//! let parsed = AgentDefinition::parse(DefinitionFormat::Agent, &file, text, Path::new("/project"));
//! assert_eq!(parsed.definition.name.value, "reviewer");
//! let problem = parsed.errors().next().unwrap();
//! assert_eq!((problem.code.name(), problem.line()), ("agent-limit", Some(4)));
//! ```

mod budget;
mod check;
pub mod code;
mod crew;
mod definition;
mod discovery;
mod format;
mod key;
mod loader;
mod markdown;
mod role;
mod schema;
mod skill_check;
mod slash;
mod value_reader;

pub use self::budget::{LimitSetting, RoleBudget};
pub use self::check::CheckContext;
pub use self::definition::{AgentDefinition, ParsedDefinition};
pub use self::discovery::{DefinitionFile, DefinitionOrigin, definition_at, definitions};
pub use self::format::DefinitionFormat;
pub use self::loader::MAX_FILE;
pub use self::role::{Role, ServerDescription, ServerRef, SkillDisclosure, SkillList, SkillRef};
pub use self::schema::schema;
pub use self::slash::{
    BuiltinCommand, CommandLane, ExpandedCommand, SlashCommand, SlashCommands, SlashInput, skills_page,
    unknown_command,
};
