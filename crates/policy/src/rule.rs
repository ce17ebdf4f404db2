//! Rules: which actions are meant.

mod exact;
mod read;
mod wording;

pub(crate) use exact::rules_for;
pub use read::{RuleError, RuleProblem};

use crate::CommandPattern;
use crate::action::{Action, Need};
use crate::aspect::{Aspect, Part, Run};
use crate::file_glob::FileGlob;
use crate::host::HostPattern;
use crate::name_glob::{NameGlob, SkillPattern};
use crate::wrappers::{self, Touch};
use metier_skill::Tool;

/// Which actions a line of a `deny`, `ask` or `allow` list means.
///
/// The same rule means more where it narrows than where it widens: `skill:pdf` denies everything that skill does, and
/// allows what it does inside the default containment. So a rule answers two questions, whether it covers a part of an
/// action (to allow it) and whether it touches it (to deny it or to ask).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// `*`: everything; to allow, everything inside the default containment.
    Any,
    /// `skill:NAME` or one part of what it does.
    Skill {
        /// Which skills.
        skill: SkillPattern,
        /// Which part; without one, see [`Rule`].
        part: Option<SkillPart>,
    },
    /// `Bash`: every command line, of a skill or of the agent, also one that cannot be read.
    Bash,
    /// `command:PATTERN`, `Bash(PATTERN)`: a command line that is understood and whose every command the pattern means.
    Command(CommandPattern),
    /// `skill_run_script`: a script of whichever skill.
    Script,
    /// `write:GLOB`, `host:NAME`, `secret:NAME`: a need, whoever has it.
    Reach(Reach),
    /// `Read`, `Write(GLOB)`: a general tool.
    Tool {
        /// The tool.
        tool: Tool,
        /// The files; without one, all.
        glob: Option<FileGlob>,
    },
    /// `WebFetch(domain:NAME)`.
    Fetch(HostPattern),
    /// `mcp:SERVER/TOOL`, `mcp__SERVER__TOOL`.
    Mcp {
        /// The server's label.
        server: NameGlob,
        /// The tool.
        tool: NameGlob,
    },
    /// A tool that another client has and metier has not. It never matches.
    Absent(String),
}

/// One part of what a skill does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SkillPart {
    /// `read:GLOB`: files of its own folder.
    Read(FileGlob),
    /// `script:FILE`: a script, by its name below `scripts/`.
    Script(FileGlob),
    /// `command:PATTERN`.
    Command(CommandPattern),
    /// `inject`: the commands in its text.
    Inject,
    /// `hook`: the commands it binds to events.
    Hook,
    /// `write:GLOB`, `host:NAME`, `secret:NAME`.
    Reach(Reach),
}

/// Something beyond the default containment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// `write:GLOB`.
    Write(FileGlob),
    /// `host:NAME`.
    Host(HostPattern),
    /// `secret:NAME`.
    Secret(NameGlob),
}

impl Rule {
    /// Whether this rule alone, in `allow`, settles every part of an action.
    pub fn allows(&self, action: &Action) -> bool {
        action.aspects().iter().all(|aspect| self.covers(aspect))
    }

    /// Whether this rule, in `deny` or `ask`, is about an action or may be.
    pub fn concerns(&self, action: &Action) -> bool {
        action.aspects().iter().any(|aspect| self.touches(aspect) != Touch::No)
    }

    /// Whether this rule in `allow` settles a part of an action.
    pub(crate) fn covers(&self, aspect: &Aspect<'_>) -> bool {
        match self {
            Self::Any => !matches!(aspect.part, Part::Need { .. } | Part::Tool { is_whole: false, .. }),
            Self::Skill { skill, part } => {
                aspect
                    .actor
                    .skill()
                    .is_some_and(|own| own.names().any(|name| skill.matches(name, &own.origin)))
                    && part.as_ref().map_or_else(|| is_plain(&aspect.part), |part| part.covers(aspect))
            }
            Self::Bash => matches!(aspect.part, Part::Run { kind: Run::Command, .. }),
            Self::Command(pattern) => covers_command(pattern, &aspect.part),
            Self::Script => matches!(aspect.part, Part::Script { .. }),
            Self::Reach(reach) => reach.covers(&aspect.part),
            Self::Tool { tool, glob } => covers_tool(*tool, glob.as_ref(), &aspect.part),
            Self::Fetch(hosts) => match aspect.part {
                Part::Tool { tool: Tool::WebFetch, is_whole, .. } => is_whole,
                Part::Need { need: Need::Host { host, port }, tool: Some(Tool::WebFetch) } => {
                    hosts.matches(host, *port)
                }
                Part::Need { need: Need::Hosts(wanted), tool: Some(Tool::WebFetch) } => hosts.covers(wanted),
                _ => false,
            },
            Self::Mcp { server, tool } => match aspect.part {
                Part::Mcp { server: own, tool: name } => server.matches(own) && tool.matches(name),
                _ => false,
            },
            Self::Absent(_) => false,
        }
    }

    /// Whether this rule in `deny` or `ask` is about a part of an action.
    pub(crate) fn touches(&self, aspect: &Aspect<'_>) -> Touch {
        let sure = |is: bool| if is { Touch::Yes } else { Touch::No };
        match self {
            Self::Any => Touch::Yes,
            Self::Skill { skill, part } => {
                let is_meant = |own: &crate::Skill| own.names().any(|name| skill.touches(name, &own.origin));
                if !aspect.actor.skill().is_some_and(is_meant) {
                    return Touch::No;
                }
                part.as_ref().map_or(Touch::Yes, |part| part.touches(aspect))
            }
            Self::Bash => sure(matches!(aspect.part, Part::Run { .. } | Part::Script { .. })),
            Self::Command(pattern) => touches_command(pattern, &aspect.part),
            Self::Script => sure(matches!(aspect.part, Part::Script { .. })),
            Self::Reach(reach) => sure(reach.touches(&aspect.part)),
            Self::Tool { tool, glob } => sure(touches_tool(*tool, glob.as_ref(), &aspect.part)),
            Self::Fetch(hosts) => match aspect.part {
                Part::Need { need: Need::Host { host, port }, .. } => sure(hosts.touches(host, *port)),
                Part::Need { need: Need::Hosts(wanted), .. } => sure(hosts.meets(wanted)),
                _ => Touch::No,
            },
            Self::Mcp { server, tool } => match aspect.part {
                Part::Mcp { server: own, tool: name } => {
                    // Two underscores may stand in a label or a name too, so the joined spelling counts as well.
                    let joined: Result<NameGlob, _> = format!("mcp__{server}__{tool}").parse();
                    let is_joined = joined.is_ok_and(|joined| joined.touches(&format!("mcp__{own}__{name}")));
                    sure((server.touches(own) && tool.touches(name)) || is_joined)
                }
                _ => Touch::No,
            },
            Self::Absent(_) => Touch::No,
        }
    }
}

/// What `skill:NAME` allows: activation, reads, scripts, commands and injection. Hooks have a rule of their own, since
/// they run when nobody called the skill, and needs have theirs.
fn is_plain(part: &Part<'_>) -> bool {
    match part {
        Part::Activate | Part::Read(_) | Part::Script { .. } => true,
        Part::Run { kind, .. } => *kind != Run::Hook,
        Part::Tool { .. } | Part::Mcp { .. } | Part::Need { .. } => false,
    }
}

/// A pattern compares words, so it needs a line that can be read; `*` is no exception, since who writes it sees commands in
/// front of him and not what a line could hide. Whoever means every line writes `Bash`.
fn covers_command(pattern: &CommandPattern, part: &Part<'_>) -> bool {
    match part {
        Part::Run { kind: Run::Command, command: Some(command), .. } => pattern.matches(command),
        _ => false,
    }
}

/// A pattern that narrows is about whatever runs, whoever wrote the line.
fn touches_command(pattern: &CommandPattern, part: &Part<'_>) -> Touch {
    match part {
        Part::Run { command: Some(command), .. } => wrappers::touches(pattern, command),
        Part::Run { command: None, .. } if is_any(pattern) => Touch::Yes,
        Part::Run { command: None, line, .. } => Touch::Unsure(match line.parsed() {
            Err(refusal) => refusal.to_string(),
            Ok(_) => "the line has no command".to_owned(),
        }),
        Part::Script { argv, .. } => {
            let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
            // A script without words would be unknown, and `*` is about it all the same.
            if is_any(pattern) { Touch::Yes } else { wrappers::touches_argv(pattern, &argv) }
        }
        _ => Touch::No,
    }
}

pub(crate) fn is_any(pattern: &CommandPattern) -> bool {
    pattern.to_string() == "*"
}

fn covers_tool(tool: Tool, glob: Option<&FileGlob>, part: &Part<'_>) -> bool {
    match part {
        Part::Tool { tool: own, place, is_whole } => {
            tool == *own && *is_whole && glob.is_none_or(|glob| place.is_some_and(|place| glob.means(place)))
        }
        // `Write` alone is the user's word for every file of the project; elsewhere has to be named.
        Part::Need { need: Need::Write(place), tool: Some(own) } if tool == *own => match glob {
            Some(glob) => glob.covers(place),
            None => place.is_inside() && !place.is_guarded(),
        },
        Part::Need { need: Need::Host { host, .. }, tool: Some(Tool::WebFetch) } => {
            tool == Tool::WebFetch && !host.is_address()
        }
        // `skill_read_file` is the tool that reads a skill's files, and `Skill` the one that activates.
        Part::Read(place) => tool == Tool::SkillReadFile && glob.is_none_or(|glob| glob.means(place)),
        _ => false,
    }
}

/// Tools of one kind are denied together: whoever denies `Read(.env)` does not want it read by `Grep`, and whoever denies
/// `Edit` does not want the file written.
fn touches_tool(tool: Tool, glob: Option<&FileGlob>, part: &Part<'_>) -> bool {
    let reads = [Tool::Read, Tool::Grep, Tool::Glob];
    let writes = [Tool::Write, Tool::Edit];
    match part {
        Part::Tool { tool: own, place, .. } => {
            let is_kind = tool == *own
                || (tool == Tool::Read && glob.is_some() && reads.contains(own))
                || (writes.contains(&tool) && writes.contains(own));
            is_kind && glob.is_none_or(|glob| place.is_some_and(|place| glob.touches(place)))
        }
        Part::Read(place) => {
            matches!(tool, Tool::Read | Tool::SkillReadFile) && glob.is_none_or(|glob| glob.touches(place))
        }
        Part::Need { need: Need::Write(place), .. } => {
            writes.contains(&tool) && glob.is_none_or(|glob| glob.touches(place))
        }
        Part::Need { need: Need::WriteBelow(wanted), .. } => {
            writes.contains(&tool) && glob.is_none_or(|glob| glob.meets(wanted))
        }
        Part::Script { .. } => tool == Tool::SkillRunScript,
        _ => false,
    }
}

impl SkillPart {
    fn covers(&self, aspect: &Aspect<'_>) -> bool {
        match (self, &aspect.part) {
            (Self::Read(glob), Part::Read(place)) => glob.means(place),
            (Self::Script(glob), Part::Script { file, .. }) => {
                glob.means(&crate::Place::new(script_name(file)))
            }
            (Self::Command(pattern), part) => covers_command(pattern, part),
            (Self::Inject, Part::Run { kind, .. }) => *kind == Run::Inject,
            (Self::Hook, Part::Run { kind, .. }) => *kind == Run::Hook,
            (Self::Reach(reach), part) => reach.covers(part),
            _ => false,
        }
    }

    fn touches(&self, aspect: &Aspect<'_>) -> Touch {
        let is_meant = match (self, &aspect.part) {
            (Self::Command(pattern), part) => return touches_command(pattern, part),
            (Self::Read(glob), Part::Read(place)) => glob.touches(place),
            (Self::Script(glob), Part::Script { file, .. }) => {
                glob.touches(&crate::Place::new(script_name(file)))
            }
            (Self::Inject, Part::Run { kind, .. }) => *kind == Run::Inject,
            (Self::Hook, Part::Run { kind, .. }) => *kind == Run::Hook,
            (Self::Reach(reach), part) => reach.touches(part),
            _ => false,
        };
        if is_meant { Touch::Yes } else { Touch::No }
    }
}

impl Reach {
    fn covers(&self, part: &Part<'_>) -> bool {
        let Part::Need { need, .. } = part else { return false };
        match (self, need) {
            (Self::Write(glob), Need::Write(place)) => glob.covers(place),
            (Self::Write(glob), Need::WriteBelow(wanted)) => glob.covers_glob(wanted),
            (Self::Host(hosts), Need::Host { host, port }) => hosts.matches(host, *port),
            (Self::Host(hosts), Need::Hosts(wanted)) => hosts.covers(wanted),
            (Self::Secret(names), Need::Secret(name)) => names.matches(name),
            _ => false,
        }
    }

    fn touches(&self, part: &Part<'_>) -> bool {
        let Part::Need { need, .. } = part else { return false };
        match (self, need) {
            (Self::Write(glob), Need::Write(place)) => glob.touches(place),
            (Self::Write(glob), Need::WriteBelow(wanted)) => glob.meets(wanted),
            (Self::Host(hosts), Need::Host { host, port }) => hosts.touches(host, *port),
            (Self::Host(hosts), Need::Hosts(wanted)) => hosts.meets(wanted),
            (Self::Secret(names), Need::Secret(name)) => names.touches(name),
            _ => false,
        }
    }
}

/// A script as rules name it: below `scripts/`, where all of them are.
pub(crate) fn script_name(file: &str) -> &str {
    let file = file.strip_prefix("./").unwrap_or(file);
    file.strip_prefix("scripts/").unwrap_or(file)
}
