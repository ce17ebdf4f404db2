//! A rule as it is written.

use super::{Reach, Rule, SkillPart};
use metier_skill::{ToolPattern, tokenize};
use std::fmt;

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Skill { skill, part: None } => write!(f, "skill:{skill}"),
            Self::Skill { skill, part: Some(part) } => write!(f, "skill:{skill}/{part}"),
            Self::Command(pattern) => write!(f, "command:{pattern}"),
            Self::Script => f.write_str("skill_run_script"),
            Self::Reach(reach) => write!(f, "{reach}"),
            Self::Tool { tool, glob: None } => f.write_str(tool.name()),
            Self::Tool { tool, glob: Some(glob) } => {
                let (tool, glob) = (tool.name(), glob.to_string());
                // A lone parenthesis in a glob would end the list item early, so such a rule is written without any.
                if tokenize(&format!("{tool}({glob})")).is_ok_and(|items| is_one(&items, &glob)) {
                    write!(f, "{tool}({glob})")
                } else {
                    write!(f, "{tool}:{glob}")
                }
            }
            Self::Fetch(hosts) => write!(f, "WebFetch(domain:{hosts})"),
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

/// Whether a list is one tool with this argument, byte for byte.
fn is_one(items: &[ToolPattern], argument: &str) -> bool {
    matches!(items, [one] if one.argument.as_deref() == Some(argument))
}
