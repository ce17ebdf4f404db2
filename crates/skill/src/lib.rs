//! skill
pub mod code;
mod document;
mod injection;
mod line;
mod manifest;
mod name;
mod paragraph;
mod parse;
mod repair;
mod split;
mod tools;
pub mod yaml;

pub use document::{Document, Parsed};
pub use injection::{InjectedCommand, injected_commands};
pub use manifest::{Argument, Context, Description, Manifest, More, Needs, Requires, Spanned, UserOnly};
pub use name::{MAX_NAME, NameRefusal, Naming, SkillName, is_canonical, judge, slug};
pub use parse::{parse, parse_beginning, parse_prefix};
pub use tools::{ToolPattern, Unbalanced, tokenize};
