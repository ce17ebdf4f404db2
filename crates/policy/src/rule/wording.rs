//! A rule as it is written.

use super::{Reach, Rule, SkillPart};
use metier_skill::{Tool, ToolPattern, tokenize};
use std::fmt;

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Skill { skill, part: None } => write!(f, "skill:{skill}"),
            Self::Skill { skill, part: Some(part) } => write!(f, "skill:{skill}/{part}"),
            Self::Bash => f.write_str(Tool::Bash.name()),
            Self::Command(pattern) => write!(f, "command:{pattern}"),
            Self::Script => f.write_str(Tool::SkillRunScript.name()),
            Self::Reach(reach) => write!(f, "{reach}"),
            Self::Tool { tool, glob: None } => f.write_str(tool.name()),
            Self::Tool { tool, glob: Some(glob) } => f.write_str(&with(tool.name(), &glob.to_string())),
            Self::Fetch(hosts) => write!(f, "{}(domain:{hosts})", Tool::WebFetch.name()),
            Self::Mcp { server, tool } => write!(f, "mcp:{server}/{tool}"),
            Self::Absent(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for SkillPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(glob) => write!(f, "read:{glob}"),
            Self::Script(glob) => write!(f, "script:{glob}"),
            Self::Command(pattern) => write!(f, "command:{pattern}"),
            Self::Inject => f.write_str("inject"),
            Self::Hook => f.write_str("hook"),
            Self::Reach(reach) => write!(f, "{reach}"),
        }
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(glob) => write!(f, "write:{glob}"),
            Self::Host(hosts) => write!(f, "host:{hosts}"),
            Self::Secret(names) => write!(f, "secret:{names}"),
        }
    }
}

/// A tool with an argument. A lone parenthesis in it would end the item of a list early, so that is written without any.
pub(super) fn with(tool: &str, argument: &str) -> String {
    let usual = format!("{tool}({argument})");
    let is_one = |items: &[ToolPattern]| matches!(items, [one] if one.argument.as_deref() == Some(argument));
    if tokenize(&usual).is_ok_and(|items| is_one(&items)) { usual } else { format!("{tool}:{argument}") }
}
