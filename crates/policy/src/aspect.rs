//! The parts of an action that rules are held against, one by one.

use crate::action::{Action, Actor, CommandLine, Deed, Need};
use crate::place::Place;
use crate::shell;
use metier_skill::Tool;

/// One part of an action.
///
/// An action is denied if a rule denies any part of it and allowed if every part is allowed, so a compound command and
/// a script with needs follow the same law: a line has a part for each simple command, and each need is a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aspect<'a> {
    pub(crate) actor: &'a Actor,
    pub(crate) part: Part<'a>,
}

/// What one part is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    Activate,
    Read(&'a Place),
    Script {
        file: &'a str,
        argv: &'a [String],
    },
    Run {
        kind: Run,
        line: &'a CommandLine,
        command: Option<&'a shell::Command>,
    },
    Tool {
        tool: Tool,
        place: Option<&'a Place>,
        is_whole: bool,
    },
    Mcp {
        server: &'a str,
        tool: &'a str,
    },
    /// A need, and the general tool that has it, if it is one.
    Need {
        need: &'a Need,
        tool: Option<Tool>,
    },
}

/// Why a command line runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    Command,
    Inject,
    Hook,
}

impl Action {
    /// Every part, what is done first, then what it needs.
    pub(crate) fn aspects(&self) -> Vec<Aspect<'_>> {
        let mut parts = Vec::new();
        let mut caller = None;
        match &self.deed {
            Deed::Activate => parts.push(Part::Activate),
            Deed::Read { place } => parts.push(Part::Read(place)),
            Deed::Script { file, argv, .. } => parts.push(Part::Script { file, argv }),
            Deed::Command(line) => parts.extend(runs(Run::Command, line)),
            Deed::Inject(line) => parts.extend(runs(Run::Inject, line)),
            Deed::Hook { line, .. } => parts.extend(runs(Run::Hook, line)),
            Deed::More(need) => parts.push(Part::Need { need, tool: None }),
            Deed::Tool { tool, place } => {
                caller = Some(*tool);
                // A tool that writes or fetches says what as a need, and one that runs something is another deed; what
                // does not say it is not known whole.
                let is_whole = match tool {
                    Tool::Bash | Tool::SkillRunScript => false,
                    Tool::Write | Tool::Edit | Tool::WebFetch => !self.needs.is_empty(),
                    _ => true,
                };
                parts.push(Part::Tool { tool: *tool, place: place.as_ref(), is_whole });
            }
            Deed::Mcp { server, tool } => parts.push(Part::Mcp { server, tool }),
            // Each changed path is a need.
            Deed::Changes(_) => {}
        }
        parts.extend(self.needs.iter().map(|need| Part::Need { need, tool: caller }));
        parts.into_iter().map(|part| Aspect { actor: &self.actor, part }).collect()
    }
}

/// One part for each simple command; one for the whole line where it cannot be understood.
fn runs(kind: Run, line: &CommandLine) -> Vec<Part<'_>> {
    match line.parsed() {
        Ok(parsed) if !parsed.commands.is_empty() => {
            parsed.commands.iter().map(|command| Part::Run { kind, line, command: Some(command) }).collect()
        }
        _ => vec![Part::Run { kind, line, command: None }],
    }
}

impl Aspect<'_> {
    /// Whether this only looks: it starts nothing, changes nothing and reaches nothing.
    pub(crate) fn is_looking(&self) -> bool {
        match self.part {
            Part::Activate | Part::Read(_) => true,
            Part::Tool { tool, .. } => matches!(
                tool,
                Tool::Read
                    | Tool::Grep
                    | Tool::Glob
                    | Tool::AskUser
                    | Tool::Skill
                    | Tool::SkillSearch
                    | Tool::SkillReadFile
                    | Tool::MemorySearch
            ),
            Part::Script { .. } | Part::Run { .. } | Part::Mcp { .. } | Part::Need { .. } => false,
        }
    }

    /// Whether this is never stopped by a fence and needs no rule: a way to ask, not a way to act.
    pub(crate) fn is_free(&self) -> bool {
        matches!(self.part, Part::Tool { tool: Tool::AskUser | Tool::SkillSearch, .. })
    }

    /// Whether the skill's own program runs here, as opposed to a command that the model wrote.
    pub(crate) fn is_own_program(&self) -> bool {
        matches!(self.part, Part::Script { .. } | Part::Run { kind: Run::Inject | Run::Hook, .. })
    }
}
