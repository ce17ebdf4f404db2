//! May it happen? Actions as values, rules, modes, answers, fences and grants, and the analysis of shell lines.
//!
//! Pure: nothing here reads a file, asks a person or starts a process. Who asks gets a decision with the rule that made
//! it.

// The gate.
mod action;
mod answer;
mod aspect;
mod decision;
mod disguise;
mod file_glob;
mod gate;
mod host;
mod mode;
mod name_glob;
mod place;
mod rule;
mod rules;
mod scope;
mod sentence;
mod wording;
pub use action::{Action, Actor, CommandLine, Deed, Digest, Need, Skill, Trust};
pub use answer::{Answer, Answers, Kept, Question};
pub use decision::{Decision, Reason, Ruling};
pub use disguise::Touch;
pub use file_glob::{FileGlob, NoGlob};
pub use gate::Gate;
pub use host::{Host, HostPattern, NoHost};
pub use mode::{Asking, Mode, NoMode};
pub use name_glob::{NameGlob, NoName, SkillPattern};
pub use place::{Place, is_guarded};
pub use rule::{Reach, Rule, RuleError, RuleProblem, SkillPart};
pub use rules::{
    Cited, Layer, List, Owner, Problem, Rules, Source, Standing, from_agents_json, from_claude_settings,
};
pub use scope::{Dialect, Folders, McpTools, Meaning, Offered, Scope, Terms};
pub use sentence::MAX_SHOWN;
pub use wording::NoAction;

// Shell lines.
mod command_pattern;
pub mod shell;
pub use command_pattern::{CommandPattern, PatternError, Unmatched, Verdict, judge};
