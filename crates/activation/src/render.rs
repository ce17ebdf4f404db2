//! Substitution: a body with its tokens replaced, in one scan.
//!
//! A [`RenderPlan`] is what a scan of the body found: tokens, escapes and commands, in order, and what there is to say about them.
//! It is what `--dry-run` shows. [`RenderPlan::render`] puts the pieces together, once the outputs of the commands are known. What
//! is put in is never looked at again: there is one scan, of the body as it is written, and it is over by then.
//!
//! # Grammar
//!
//! ```text
//! body     = { command | escape | token | character }     the first that fits, from left to right
//! escape   = "\" ( token | command )                      the token or command as text, without the backslash
//! token    = "$ARGUMENTS[" digit { digit } "]"            an argument, from 0; empty where there is none
//!          | "$ARGUMENTS" !word                           the argument text, byte for byte
//!          | "$" digit !word !( ( "." | "," ) digit )     an argument; stays where there is none
//!          | "$" name !word                               a declared argument, the longest that fits; else its default
//!          | "${" folder "}" | "{baseDir}" | "{{SKILL_DIR}}"
//!          | "${SESSION_ID}" | "${CLAUDE_SESSION_ID}"
//!          | "${env:" identifier "}"                      a declared variable
//! folder   = "SKILL_DIR" | "CLAUDE_SKILL_DIR" | "CLAUDE_SKILL_ROOT" | "CLAUDE_PLUGIN_ROOT" | "SKILL_DATA"
//!          | "CLAUDE_PLUGIN_DATA" | "PROJECT_DIR" | "CLAUDE_PROJECT_DIR"
//! command  = "!`" text "`"                                at a line's start or after white space, text not blank
//!          | "```!" line { line } "```"                   each mark alone on its line, the lines not blank
//! word     = "A" … "Z" | "a" … "z" | "0" … "9" | "_"
//! ```
//!
//! `!x` means "and no x follows". A token that has no value stays: `$N` without such an argument, a folder that there is none
//! of, a variable that is not declared or is sensitive. `${X}` with any other name stays whole. Any other backslash stays.
//! Tokens inside a command are not replaced in its text; they reach the shell as variables (see [`ShellLine`]).
//!
//! If there are arguments and none of them was put in, a last line `ARGUMENTS: …` is appended. A command that ran with an
//! argument has put it in.
//!
//! [`ShellLine`]: crate::ShellLine

mod finding;
mod plan;
mod rendered;
mod resolve;
pub(crate) mod token;
mod values;

pub(crate) use finding::Finding;
pub use metier_exec::SkillArguments;
pub use plan::{PlannedCommand, PlannedToken, RenderPlan};
pub use rendered::{PieceSource, Rendered, RenderedPiece};
pub(crate) use resolve::{ArgumentUse, Resolved, StayReason};
pub(crate) use values::Resolver;
pub use values::TokenValues;
