//! Reading a rule, in metier's spelling and in those of other clients.

use super::{Reach, Rule, SkillPart, script_name};
use crate::file_glob::NoGlob;
use crate::host::NoHost;
use crate::name_glob::{NoName, SkillPattern};
use crate::{CommandPattern, PatternError};
use metier_diagnostic::visible;
use metier_skill::{CLAUDE_CODE_TOOLS, Tool, ToolPattern, tokenize};
use std::str::FromStr;

/// The longest rule. A line of a configuration is far shorter, and a pattern is held against every action.
const MAX_RULE: usize = 4096;

/// A text that is no rule, and what it may have been about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}`, column {column}: {problem}", shown(.text))]
pub struct RuleError {
    /// The text.
    pub text: String,
    /// What is wrong.
    pub problem: Box<RuleProblem>,
    /// Where, in characters from 1.
    pub column: usize,
    /// Everything the text can have meant, as far as its beginning tells. A rule that narrows and cannot be read must
    /// not be taken for one that says nothing.
    pub meant: Box<Rule>,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// There is nothing there.
    #[error("the rule is empty; write one such as `skill:NAME` or `command:git:*`")]
    Empty,
    /// More than any line of a configuration.
    #[error("the rule has more than {MAX_RULE} bytes; write a shorter one")]
    Long,
    /// It starts with no word of the language.
    #[error("metier knows no tool `{}`; write `skill:NAME`, `command:PATTERN`, `mcp:SERVER/TOOL` or a tool's name", visible(.0))]
    Tool(String),
    /// A skill does nothing of this name.
    #[error(
        "`{}` is no part of a skill; write `read:GLOB`, `script:FILE`, `command:PATTERN`, `inject`, `hook`, `write:GLOB`, `host:NAME` or `secret:NAME`",
        visible(.0)
    )]
    Part(String),
    /// The part takes nothing behind a colon.
    #[error("`{0}` takes nothing behind it; write `{0}` alone")]
    Bare(String),
    /// The tool takes nothing in parentheses.
    #[error("`{0}` takes nothing in parentheses; write `{0}` alone")]
    Argument(String),
    /// A parenthesis without its counterpart.
    #[error("a parenthesis has no counterpart; balance them")]
    Unbalanced,
    /// More than one tool.
    #[error("this is more than one rule; write each as an entry of its own")]
    Several,
    /// An MCP tool without its server.
    #[error("an MCP rule is `mcp:SERVER/TOOL`")]
    Mcp,
    /// `WebFetch` with something else than a domain.
    #[error("`WebFetch` takes `domain:NAME` in its parentheses")]
    Domain,
    /// A name.
    #[error("{0}; write the name as `metier list` shows it, with `*` for any run of characters")]
    Name(#[from] NoName),
    /// A glob.
    #[error("{0}")]
    Glob(#[from] NoGlob),
    /// A host.
    #[error("{0}")]
    Host(#[from] NoHost),
    /// A command pattern.
    #[error("{0}")]
    Command(PatternError),
}

/// Characters of a rule that an error repeats: it names the column, too, and a rule has no bound.
const MAX_SHOWN: usize = 200;

fn shown(text: &str) -> String {
    let text = visible(text);
    match text.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or_default()),
        None => text.into_owned(),
    }
}

/// What is wrong and at which byte of the text.
type Wrong = (RuleProblem, usize);

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(written: &str) -> Result<Self, RuleError> {
        let text = written.trim();
        let indent = written.len() - written.trim_start().len();
        let mut meant = Self::Any;
        read(text, &mut meant).map_err(|(problem, at)| {
            let before = written.get(..indent + at).unwrap_or(written);
            RuleError {
                text: written.to_owned(),
                problem: Box::new(problem),
                column: before.chars().count() + 1,
                meant: Box::new(meant),
            }
        })
    }
}

/// Reads a rule. `meant` is narrowed as far as the text is understood, for whoever must know after a failure.
fn read(text: &str, meant: &mut Rule) -> Result<Rule, Wrong> {
    if text.is_empty() {
        return Err((RuleProblem::Empty, 0));
    }
    if text.len() > MAX_RULE {
        return Err((RuleProblem::Long, 0));
    }
    if text == "*" {
        return Ok(Rule::Any);
    }
    let Some((head, rest)) = text.split_once(':') else { return tool(text, 0, meant) };
    let at = head.len() + 1;
    match head {
        "skill" => skill(rest, at, meant),
        "command" => {
            *meant = every_command();
            command(rest, at).map(Rule::Command)
        }
        "write" | "host" | "secret" => reach(head, rest, at).map(Rule::Reach),
        "mcp" => {
            *meant = every_server();
            let (server, tool) = rest.split_once('/').unwrap_or((rest, "*"));
            if server.is_empty() || tool.is_empty() {
                return Err((RuleProblem::Mcp, at));
            }
            Ok(Rule::Mcp { server: named(server, at)?, tool: named(tool, at + server.len() + 1)? })
        }
        "tool" => tool(rest, at, meant),
        // `bash:git status` is how core-agent writes `Bash(git status)`.
        _ if Tool::named(head).is_some() => {
            of_pattern(&ToolPattern { tool: head.to_owned(), argument: Some(rest.to_owned()) }, at, meant)
        }
        _ => tool(text, 0, meant),
    }
}

fn every_command() -> Rule {
    // `*` is a pattern by definition; if it ever were none, everything is the careful answer.
    CommandPattern::parse("*").map_or(Rule::Any, Rule::Command)
}

fn every_server() -> Rule {
    match ("*".parse(), "*".parse()) {
        (Ok(server), Ok(tool)) => Rule::Mcp { server, tool },
        _ => Rule::Any,
    }
}

fn skill(text: &str, at: usize, meant: &mut Rule) -> Result<Rule, Wrong> {
    let (who, part) = text.split_once('/').map_or((text, None), |(who, part)| (who, Some(part)));
    let skill: SkillPattern = named(who, at)?;
    *meant = Rule::Skill { skill: skill.clone(), part: None };
    let at = at + who.len() + 1;
    let part = part.map(|part| skill_part(part, at)).transpose()?;
    Ok(Rule::Skill { skill, part })
}

fn skill_part(text: &str, at: usize) -> Result<SkillPart, Wrong> {
    let (head, rest) = text.split_once(':').map_or((text, None), |(head, rest)| (head, Some(rest)));
    let inner = at + head.len() + 1;
    let given = rest.unwrap_or_default();
    Ok(match head {
        "read" => SkillPart::Read(named(given, inner)?),
        "script" => SkillPart::Script(named(script_name(given), inner)?),
        "command" => SkillPart::Command(command(given, inner)?),
        "write" | "host" | "secret" => SkillPart::Reach(reach(head, given, inner)?),
        "inject" | "hook" if rest.is_some() => return Err((RuleProblem::Bare(head.to_owned()), at)),
        "inject" => SkillPart::Inject,
        "hook" => SkillPart::Hook,
        _ => return Err((RuleProblem::Part(head.to_owned()), at)),
    })
}

fn reach(head: &str, rest: &str, at: usize) -> Result<Reach, Wrong> {
    Ok(match head {
        "write" => Reach::Write(named(rest, at)?),
        "host" => Reach::Host(named(rest, at)?),
        _ => Reach::Secret(named(rest, at)?),
    })
}

/// A name, a glob or a host in a rule.
fn named<T: FromStr<Err: Into<RuleProblem>>>(text: &str, at: usize) -> Result<T, Wrong> {
    text.parse::<T>().map_err(|error| (error.into(), at))
}

fn command(text: &str, at: usize) -> Result<CommandPattern, Wrong> {
    // `:*` alone is what is left of `Bash(:*)`, which public skills write for every command.
    let text = if text.trim() == ":*" { "*" } else { text };
    CommandPattern::parse(text).map_err(|error| (RuleProblem::Command(error), at))
}

/// A tool as a list in a skill or in another client's settings names it.
fn tool(text: &str, at: usize, meant: &mut Rule) -> Result<Rule, Wrong> {
    let head = text.split('(').next().unwrap_or_default();
    let patterns = tokenize(text).map_err(|unbalanced| {
        // What stands before the parenthesis was read.
        let _ = of_pattern(&ToolPattern { tool: head.to_owned(), argument: None }, at, meant);
        (RuleProblem::Unbalanced, at + unbalanced.at)
    })?;
    match patterns.as_slice() {
        [one] => of_pattern(one, at, meant),
        [] => Err((RuleProblem::Empty, at)),
        _ => Err((RuleProblem::Several, at)),
    }
}

impl Rule {
    /// One item of a tool list. Tools that nobody knows are an error; whoever knows MCP servers asks them first.
    pub fn of_pattern(pattern: &ToolPattern) -> Result<Self, RuleError> {
        let mut meant = Self::Any;
        of_pattern(pattern, 0, &mut meant).map_err(|(problem, at)| RuleError {
            text: pattern.to_string(),
            problem: Box::new(problem),
            column: at + 1,
            meant: Box::new(meant),
        })
    }
}

fn of_pattern(pattern: &ToolPattern, at: usize, meant: &mut Rule) -> Result<Rule, Wrong> {
    let ToolPattern { tool: written, argument } = pattern;
    let argument = argument.as_deref();
    if let Some(rest) = written.strip_prefix("mcp__") {
        *meant = every_server();
        let (server, tool) = rest.split_once("__").unwrap_or((rest, "*"));
        if argument.is_some() || server.is_empty() || tool.is_empty() {
            return Err((RuleProblem::Mcp, at));
        }
        return Ok(Rule::Mcp { server: named(server, at)?, tool: named(tool, at)? });
    }
    let Some(tool) = Tool::named(written) else {
        let is_elsewhere = CLAUDE_CODE_TOOLS.contains(&written.as_str()) || Tool::kin(written).is_some();
        let unknown = || (RuleProblem::Tool(written.clone()), at);
        return if is_elsewhere { Ok(Rule::Absent(pattern.to_string())) } else { Err(unknown()) };
    };
    let bare = Rule::Tool { tool, glob: None };
    let inner = at + written.len() + 1;
    Ok(match (tool, argument) {
        (Tool::Bash, given) => {
            *meant = every_command();
            match given {
                Some(given) => Rule::Command(command(given, inner)?),
                None => Rule::Bash,
            }
        }
        (Tool::Skill, given) => foreign_skill(given, inner, meant)?,
        (Tool::SkillRunScript, None) => Rule::Script,
        (_, None) => bare,
        (Tool::WebFetch, Some(given)) => {
            *meant = bare.clone();
            match given.strip_prefix("domain:") {
                Some(domain) => Rule::Fetch(named(domain, inner + "domain:".len())?),
                None if given == "*" => bare,
                None => return Err((RuleProblem::Domain, inner)),
            }
        }
        (Tool::Read | Tool::Write | Tool::Edit | Tool::Grep | Tool::Glob, Some(given)) => {
            *meant = bare;
            Rule::Tool { tool, glob: Some(named(given, inner)?) }
        }
        (Tool::WebSearch | Tool::Task, Some(given)) => Rule::Absent(super::wording::with(written, given)),
        (_, Some(_)) => {
            *meant = bare;
            return Err((RuleProblem::Argument(written.clone()), inner));
        }
    })
}

/// `Skill(name)`, and `Skill(name *)` for any arguments; arguments are not what a rule is about here, so both are the
/// skill. A colon is a plugin's there.
fn foreign_skill(given: Option<&str>, at: usize, meant: &mut Rule) -> Result<Rule, Wrong> {
    const CLASSES: &[&str] = &["cli", "project", "user", "system", "bundled", "config", "mcp", "plugin"];
    let text = given.unwrap_or("*").trim();
    let text = text.strip_suffix(" *").or_else(|| text.strip_suffix(":*")).unwrap_or(text);
    *meant = "*".parse().map_or(Rule::Any, |skill| Rule::Skill { skill, part: None });
    let mut skill: SkillPattern = named(text, at)?;
    if let Some(origin) = &skill.origin {
        let class = origin.as_str().split('.').next().unwrap_or_default();
        if !CLASSES.contains(&class) && origin.as_str() != "*" {
            skill.origin = Some(named(&format!("plugin.{origin}"), at)?);
        }
    }
    Ok(Rule::Skill { skill, part: None })
}
