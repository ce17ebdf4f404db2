//! What an active skill's tool lists mean: a fence around what may be called, a grant of what need not be asked.
//!
//! Both come from the same list, and a setting says which of the two it is. A fence narrows for everybody while the
//! skill is active. A grant answers a question and never widens the containment, unless the entry itself names the
//! place or the host.

mod entry;
mod folders;
mod mcp_tools;

pub use folders::Folders;
pub use mcp_tools::McpTools;

use crate::action::{Actor, Need, Skill, Trust};
use crate::aspect::{Aspect, Part, Run};
use crate::decision::Reason;
use crate::rule::{Rule, is_any};
use crate::wrappers::Touch;
use entry::Entry;
use metier_skill::{Tool, ToolPattern};

/// What a skill's `allowed-tools` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Only the named tools may be called.
    Fence,
    /// The named tools need no question.
    Grant,
    /// Both.
    Both,
    /// Neither.
    Advisory,
}

/// Whose rules a fence follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// metier's: every tool that is not named is outside.
    Usual,
    /// A crew file's: the list fences what runs, one simple command at a time, and nothing else.
    Crew,
}

/// What a scope is opened with.
#[derive(Clone, Debug)]
pub struct Terms<'a> {
    /// The skill that was activated.
    pub skill: Skill,
    /// Its list of tools; `None` says nothing, an empty one names none.
    pub tools: Option<&'a [ToolPattern]>,
    /// Its `disallowed-tools`.
    pub disallowed: &'a [ToolPattern],
    /// What the list means.
    pub meaning: Meaning,
    /// Whose rules the fence follows.
    pub dialect: Dialect,
    /// What the directory tokens in patterns stand for.
    pub folders: Folders,
}

/// An active skill's fence and grants. It ends with the activation: whoever drops it has ended it.
#[derive(Clone, Debug)]
pub struct Scope {
    skill: Skill,
    dialect: Dialect,
    fence: Option<Vec<Entry>>,
    grants: Vec<Entry>,
    disallowed: Vec<Entry>,
    notes: Vec<String>,
}

/// A tool as it would be offered to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered<'a> {
    /// One of metier's own.
    Tool(Tool),
    /// One of an MCP server.
    Mcp {
        /// The server's label.
        server: &'a str,
        /// The tool.
        tool: &'a str,
    },
}

impl Scope {
    /// Opens the scope of a skill. What in its lists can never match is said in [`Scope::notes`].
    pub fn open(terms: Terms<'_>, servers: &McpTools) -> Self {
        let Terms { skill, tools, disallowed, meaning, dialect, folders } = terms;
        let mut notes = Vec::new();
        let mut read = |patterns: &[ToolPattern]| -> Vec<Entry> {
            let named = patterns.iter().filter(|pattern| !pattern.is_wildcard());
            named.map(|pattern| Entry::read(pattern, &folders, servers, &mut notes)).collect()
        };
        let list = tools.map(&mut read);
        // To allow everything says nothing; to take everything away does.
        let every = disallowed.iter().any(ToolPattern::is_wildcard).then(Entry::every);
        let disallowed = every.into_iter().chain(read(disallowed)).collect();
        let is_open = tools.is_none_or(|tools| tools.iter().any(ToolPattern::is_wildcard));
        let fence = match meaning {
            Meaning::Fence | Meaning::Both if !is_open => list.clone(),
            _ => None,
        };
        // A stranger's list is a wish. Only a trusted skill's is the user's word.
        let grants = match (meaning, skill.trust) {
            (Meaning::Grant | Meaning::Both, Trust::Trusted) => list.unwrap_or_default(),
            _ => Vec::new(),
        };
        Self { skill, dialect, fence, grants, disallowed, notes }
    }

    /// The skill whose scope this is.
    pub fn skill(&self) -> &Skill {
        &self.skill
    }

    /// Whether there is a fence.
    pub fn is_fenced(&self) -> bool {
        self.fence.is_some()
    }

    /// What in the lists can never match, and why.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether a tool can be called at all in this scope, for the list of tools that a child is given.
    pub fn offers(&self, tool: Offered<'_>) -> bool {
        let actor = Actor::Agent;
        let is_about = |entry: &Entry| match (tool, &entry.rule) {
            (Offered::Tool(Tool::Bash | Tool::SkillRunScript), Rule::Command(_) | Rule::Bash)
            | (Offered::Tool(Tool::SkillRunScript), Rule::Script)
            | (Offered::Tool(Tool::WebFetch), Rule::Fetch(_)) => true,
            (Offered::Tool(own), Rule::Tool { tool, .. }) => own == *tool,
            (Offered::Mcp { server, tool }, rule) => {
                rule.covers(&Aspect { actor: &actor, part: Part::Mcp { server, tool } })
            }
            _ => false,
        };
        let is_taken_away = self.disallowed.iter().any(|entry| match (&entry.rule, tool) {
            (Rule::Any, Offered::Tool(tool)) => !is_never_fenced(tool) && tool != Tool::SkillReadFile,
            (Rule::Bash, Offered::Tool(Tool::Bash)) => true,
            (Rule::Command(pattern), Offered::Tool(Tool::Bash)) => is_any(pattern),
            (Rule::Tool { tool, glob: None }, Offered::Tool(own)) => own == *tool,
            (Rule::Script, Offered::Tool(own)) => own == Tool::SkillRunScript,
            (_, Offered::Mcp { .. }) => is_about(entry),
            _ => false,
        });
        let is_free = match tool {
            Offered::Tool(tool) => is_never_fenced(tool) || tool == Tool::SkillReadFile,
            Offered::Mcp { .. } => false,
        };
        let is_fenced_kind = matches!(tool, Offered::Tool(Tool::Bash | Tool::SkillRunScript));
        let is_inside = match (&self.fence, self.dialect) {
            (None, _) => true,
            (Some(_), Dialect::Crew) if !is_fenced_kind => true,
            (Some(fence), _) => fence.iter().any(is_about),
        };
        !is_taken_away && (is_free || is_inside)
    }

    /// The entry of `disallowed-tools` that takes a part of an action away.
    pub(crate) fn disallowing(&self, aspect: &Aspect<'_>) -> Option<Reason> {
        let is_meant = |entry: &&Entry| match (&entry.rule, &aspect.part) {
            (_, Part::Need { tool: None, .. }) => false,
            (Rule::Any, part) => !matches!(part, Part::Read(_)) && !is_not_a_call(aspect),
            (Rule::Skill { .. }, part) if !matches!(part, Part::Activate) => false,
            // A skill's own files stay readable, whatever becomes of the tool that reads the project's.
            (Rule::Tool { tool, .. }, Part::Read(_)) => *tool == Tool::SkillReadFile,
            (rule, _) => rule.touches(aspect) != Touch::No,
        };
        let entry = self.disallowed.iter().find(is_meant)?;
        Some(Reason::Disallowed { skill: self.skill.clone(), tool: entry.text.clone() })
    }

    /// The fence, if a part of an action stands outside of it.
    pub(crate) fn stopping(&self, aspect: &Aspect<'_>, active: &[Scope]) -> Option<Reason> {
        let fence = self.fence.as_ref()?;
        let is_inside = match self.dialect {
            Dialect::Usual => {
                is_own_reading(aspect, active) || fence.iter().any(|entry| entry.admits(aspect))
            }
            Dialect::Crew => match aspect.part {
                Part::Run { kind: Run::Command, line, .. } => {
                    let is_one = line.parsed().is_ok_and(|line| line.only().is_some());
                    is_one && fence.iter().any(|entry| entry.admits(aspect))
                }
                Part::Script { .. } => fence.iter().any(|entry| entry.admits(aspect)),
                _ => true,
            },
        };
        if is_inside || is_not_a_call(aspect) {
            return None;
        }
        let tools: Vec<String> = fence.iter().map(|entry| format!("`{}`", entry.text)).collect();
        let piece = self.piece(aspect);
        Some(Reason::Fence { skill: self.skill.clone(), tools: tools.join(", "), piece })
    }

    /// What of an action stands outside, in words.
    fn piece(&self, aspect: &Aspect<'_>) -> Option<String> {
        match aspect.part {
            Part::Run { line, command, .. } => match (line.parsed(), command) {
                (Err(refusal), _) => Some(format!("what cannot be read: {refusal}")),
                (Ok(parsed), _) if self.dialect == Dialect::Crew && parsed.only().is_none() => {
                    Some("more than one command".to_owned())
                }
                (Ok(parsed), Some(command)) => Some(format!("`{}`", parsed.text(command))),
                (Ok(_), None) => None,
            },
            Part::Script { file, .. } => Some(format!("the script `{file}`")),
            Part::Tool { tool, place, .. } => Some(match place {
                Some(place) => format!("`{}` of `{place}`", tool.name()),
                None => format!("`{}`", tool.name()),
            }),
            Part::Mcp { server, tool } => Some(format!("`mcp:{server}/{tool}`")),
            Part::Need { need, .. } => Some(format!("to {}", need.words())),
            Part::Read(place) => Some(format!("to read `{place}` of a skill that is not active")),
            Part::Activate => None,
        }
    }

    /// The grant that settles a part of an action.
    pub(crate) fn granting(&self, aspect: &Aspect<'_>) -> Option<Reason> {
        let is_own = aspect.actor.skill().is_some_and(|skill| skill.is(&self.skill));
        let is_granted = |entry: &&Entry| match (&aspect.part, &entry.rule) {
            // Only what the entry names, and only where it names somebody: `Write(**)` is `Write` in other words.
            (Part::Need { need: Need::Write(place), .. }, rule @ Rule::Tool { glob: Some(glob), .. }) => {
                glob.names_a_place() && rule.covers(aspect) && !place.is_guarded()
            }
            (Part::Need { need: Need::Host { .. }, .. }, rule @ Rule::Fetch(hosts)) => {
                hosts.names_somebody() && rule.covers(aspect)
            }
            (Part::Script { .. } | Part::Run { kind: Run::Inject, .. }, _) => {
                is_own && entry.admits_program(aspect)
            }
            (Part::Activate, rule @ Rule::Skill { .. }) => rule.covers(aspect),
            (Part::Run { kind: Run::Command, .. } | Part::Tool { .. } | Part::Mcp { .. }, rule) => {
                !matches!(rule, Rule::Skill { .. }) && rule.covers(aspect)
            }
            // Hooks run when nobody called the skill, and every other need has a rule of its own.
            _ => false,
        };
        let entry = self.grants.iter().find(is_granted)?;
        Some(Reason::Granted { skill: self.skill.clone(), tool: entry.text.clone() })
    }

    /// What tells this fence from another, for answers: another list is another question.
    pub(crate) fn key(&self) -> String {
        let entries = self.fence.iter().flatten().map(|entry| entry.text.clone());
        let parts: Vec<String> = std::iter::once(self.skill.to_string()).chain(entries).collect();
        serde_json::Value::from(parts).to_string()
    }
}

/// Calls that no fence stops: without them a fenced agent could neither ask nor find its way out.
fn is_never_fenced(tool: Tool) -> bool {
    matches!(tool, Tool::AskUser | Tool::Skill | Tool::SkillSearch)
}

/// What is not a call of a tool. A skill's text is activated whole, with the commands in it; hooks belong to the skill
/// that declares them; needs are the gate's to decide.
fn is_not_a_call(aspect: &Aspect<'_>) -> bool {
    match aspect.part {
        Part::Activate | Part::Run { kind: Run::Inject | Run::Hook, .. } => true,
        Part::Tool { tool, .. } => is_never_fenced(tool),
        // A fence that names hosts is about the host that is fetched; every other need is no call.
        Part::Need { tool, .. } => tool != Some(Tool::WebFetch),
        Part::Read(_) | Part::Script { .. } | Part::Run { .. } | Part::Mcp { .. } => false,
    }
}

/// Whether a file of an active skill is read.
fn is_own_reading(aspect: &Aspect<'_>, active: &[Scope]) -> bool {
    matches!(aspect.part, Part::Read(_))
        && aspect.actor.skill().is_some_and(|skill| active.iter().any(|scope| scope.skill.is(skill)))
}
