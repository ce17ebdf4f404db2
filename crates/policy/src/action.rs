//! What somebody wants to do, as a value.

use crate::file_glob::FileGlob;
use crate::host::{Host, HostPattern};
use crate::path_change::PathChange;
use crate::place::Place;
use crate::shell::{self, Line, Refusal};
use metier_skill::Tool;
use std::fmt;

/// One action: who, what, and what it needs beyond the default containment.
///
/// Rules, answers and fences are held against this value, never against a text made from it: a text that is cut, quoted
/// or ordered in some way can be made to hide what it should show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Who acts.
    pub actor: Actor,
    /// What it does.
    pub deed: Deed,
    /// What it needs that the default containment does not give.
    pub needs: Vec<Need>,
}

/// Who acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The agent with its own tools.
    Agent,
    /// A skill: it is activated, its files are read, its scripts and commands run.
    Skill(Skill),
}

impl Actor {
    /// The skill, if it is one.
    pub fn skill(&self) -> Option<&Skill> {
        match self {
            Self::Skill(skill) => Some(skill),
            Self::Agent => None,
        }
    }
}

/// A skill as far as a decision needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// What it is called.
    pub name: String,
    /// What its folder is called, where that is another name that leads to it: a rule may name either.
    pub folder: Option<String>,
    /// Where it comes from, such as `project.claude`.
    pub origin: String,
    /// Whether it may be used.
    pub trust: Trust,
    /// The digest of its folder, where it is bound to one.
    pub tree: Option<Digest>,
    /// The project or the root it lies in, where the origin alone does not say: each project and each `--root` has its own.
    pub place: Option<String>,
}

impl Skill {
    /// The origin under which an agent's own list of tools stands among the fences of its skills. No skill comes from there.
    pub const AGENT: &'static str = "agent";

    /// A trusted skill that is bound to no digest.
    pub fn new(name: &str, origin: &str) -> Self {
        Self {
            name: name.to_owned(),
            folder: None,
            origin: origin.to_owned(),
            trust: Trust::Trusted,
            tree: None,
            place: None,
        }
    }

    /// Who it is in records of what it did: its origin, and of a `--root` which one.
    pub fn owner(&self) -> String {
        match &self.place {
            Some(place) if self.origin == "cli" || self.origin.starts_with("cli.") => {
                format!("{}:{place}", self.origin)
            }
            _ => self.origin.clone(),
        }
    }

    /// The names that lead to it.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.folder.as_deref())
    }

    /// Whether both are the same skill, whatever their state.
    pub fn is(&self, other: &Self) -> bool {
        self.name == other.name && self.origin == other.origin
    }
}

impl fmt::Display for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.origin, self.name)
    }
}

/// Whether a skill may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trust {
    /// It is the user's, the system's, or of a trusted project.
    Trusted,
    /// It was trusted, and what this action uses has changed since. It is read and activated, its own programs do not
    /// run, and it grants nothing.
    Changed,
    /// It is not.
    Untrusted,
}

/// The digest of a file or a folder, such as `sha256:…`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub String);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// The skill's text goes into the conversation.
    Activate,
    /// A file of the skill's own folder is read.
    Read {
        /// The file, seen from the skill's folder.
        place: Place,
    },
    /// A script of the skill runs.
    Script {
        /// The script, seen from the skill's folder: `scripts/convert.py`.
        file: String,
        /// What would be started, interpreter and script included.
        argv: Vec<String>,
        /// The digest of the script's bytes.
        digest: Option<Digest>,
    },
    /// A command line runs: `run_command_line` of a skill, or the agent's own `Bash`.
    Command(CommandLine),
    /// A command that stands in the skill's text runs while it is activated.
    Inject(CommandLine),
    /// A command that the skill bound to an event runs.
    Hook {
        /// The event.
        event: String,
        /// The command.
        line: CommandLine,
    },
    /// Something that already runs needs more than it has: a connection waits, a write failed.
    More(Need),
    /// A general tool is called.
    Tool {
        /// The tool.
        tool: Tool,
        /// The file or folder it is about.
        place: Option<Place>,
    },
    /// A tool of an MCP server is called.
    Mcp {
        /// The server's label.
        server: String,
        /// The tool.
        tool: String,
    },
    /// What a process changed in the project is applied; see [`Action::changes`].
    Changes(Vec<PathChange>),
}

/// Something beyond the default containment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// To write this file.
    Write(Place),
    /// To write whatever this glob means; guarded places are never among it.
    WriteBelow(FileGlob),
    /// To reach this host.
    Host {
        /// The host.
        host: Host,
        /// The port.
        port: u16,
    },
    /// To reach whatever host this pattern means; addresses are never among it unless it is one.
    Hosts(HostPattern),
    /// To see this secret in the environment.
    Secret(String),
}

/// A command line: its text, and what it is if it can be understood to the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    text: String,
    parsed: Result<Line, Refusal>,
}

impl CommandLine {
    /// Reads a line.
    pub fn new(text: &str) -> Self {
        Self { parsed: shell::parse(text), text: text.to_owned() }
    }

    /// The line as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its simple commands, or the piece that could not be understood.
    pub fn parsed(&self) -> Result<&Line, &Refusal> {
        self.parsed.as_ref()
    }
}

impl Action {
    /// An action inside the default containment.
    pub fn new(actor: Actor, deed: Deed) -> Self {
        Self { actor, deed, needs: Vec::new() }
    }

    /// The same with one more need.
    #[must_use]
    pub fn needing(mut self, need: Need) -> Self {
        self.needs.push(need);
        self
    }

    /// The same with these needs as well.
    #[must_use]
    pub fn needing_all(mut self, needs: impl IntoIterator<Item = Need>) -> Self {
        self.needs.extend(needs);
        self
    }

    /// A skill is activated.
    pub fn activate(skill: Skill) -> Self {
        Self::new(Actor::Skill(skill), Deed::Activate)
    }

    /// A file of a skill is read.
    pub fn read(skill: Skill, path: &str) -> Self {
        Self::new(Actor::Skill(skill), Deed::Read { place: Place::new(path) })
    }

    /// A script of a skill runs.
    pub fn script(skill: Skill, file: &str, argv: &[&str], digest: Option<Digest>) -> Self {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        Self::new(Actor::Skill(skill), Deed::Script { file: file.to_owned(), argv, digest })
    }

    /// A command line runs.
    pub fn command(actor: Actor, line: &str) -> Self {
        Self::new(actor, Deed::Command(CommandLine::new(line)))
    }

    /// A command of a skill's text runs.
    pub fn inject(skill: Skill, line: &str) -> Self {
        Self::new(Actor::Skill(skill), Deed::Inject(CommandLine::new(line)))
    }

    /// A command that a skill bound to an event runs.
    pub fn hook(skill: Skill, event: &str, line: &str) -> Self {
        let line = CommandLine::new(line);
        Self::new(Actor::Skill(skill), Deed::Hook { event: event.to_owned(), line })
    }

    /// A general tool that changes nothing and reaches nothing: `Read`, `Grep`, `Glob`, `ask_user`.
    pub fn tool(actor: Actor, tool: Tool, place: Option<Place>) -> Self {
        Self::new(actor, Deed::Tool { tool, place })
    }

    /// `Write` or `Edit` of a file: the call, and the need to write there.
    pub fn write(actor: Actor, tool: Tool, place: Place) -> Self {
        Self::new(actor, Deed::Tool { tool, place: Some(place.clone()) }).needing(Need::Write(place))
    }

    /// `WebFetch`: the call, and the need to reach the host.
    pub fn fetch(actor: Actor, host: Host, port: u16) -> Self {
        Self::new(actor, Deed::Tool { tool: Tool::WebFetch, place: None }).needing(Need::Host { host, port })
    }

    /// A tool of an MCP server.
    pub fn mcp(actor: Actor, server: &str, tool: &str) -> Self {
        Self::new(actor, Deed::Mcp { server: server.to_owned(), tool: tool.to_owned() })
    }

    /// Something that runs needs more.
    pub fn more(actor: Actor, need: Need) -> Self {
        Self::new(actor, Deed::More(need))
    }

    /// The skill that acts, if one does.
    pub fn skill(&self) -> Option<&Skill> {
        self.actor.skill()
    }
}
