//! May it happen? Actions as values, rules, modes, answers, fences and grants, and the analysis of shell lines.
//!
//! Pure: nothing here reads a file, asks a person or starts a process. Who asks gets a decision with the rule that made
//! it.

// Shell lines.
mod command_pattern;
pub mod shell;
pub use command_pattern::{CommandPattern, PatternError, Unmatched, Verdict, judge};
