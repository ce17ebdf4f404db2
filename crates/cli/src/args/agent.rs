//! What can be said about the agent: `run`, what it did, and `init`.

use crate::args::at_least_one;
use crate::moment;
use clap::{Args, ValueEnum};
use metier_store::Timestamp;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Does what you ask: finds the skill that fits, activates it, and runs what it says inside limits
///
/// The answer goes to standard output, what is done for it to standard error. With a model the model decides; without one the
/// built-in planner runs the operation of the one skill that clearly fits. Whatever runs is contained, and everything is
/// written down: see `metier log`.
///
/// It exits with 0 when it is done, 1 when it failed, was stopped or reached a limit, 4 when it needs a yes that nobody could
/// give.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  metier run \"add buy milk to my todo list\"
  metier run --model anthropic/NAME \"review what I changed\"
  metier run --agent reviewer \"look at src/\"      an agent that somebody wrote down: see docs/agents.md
  git diff | metier run -")]
pub(crate) struct Run {
    /// What is to be done, in your own words; `-` reads it from standard input
    #[arg(value_name = "REQUEST")]
    pub(crate) request: Vec<String>,
    /// The agent or crew to run: a FILE, or a NAME that `metier agents` lists; further ones are checked with it and refuse the
    /// start together
    #[arg(long = "agent", value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
    #[command(flatten)]
    pub(crate) working: Working,
}

/// How the agent works.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Working {
    #[command(flatten)]
    pub(crate) model: ModelFlag,
    /// Asks nobody anything: what would need a yes is refused, with the rule that would allow it
    #[arg(long)]
    pub(crate) no_input: bool,
    /// How often the model is asked at most for one message
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<NonZeroU32>,
}

/// Which model is asked.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct ModelFlag {
    /// The model to ask: a name of `[models]`, PROVIDER/MODEL, or `offline` for none; without it the configuration's, a key's or
    /// a local server's
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
}

/// Lists what has run in this project, newest first: when, how it ended, what it used, which skills, what was asked for
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier runs                                the latest 20 of this project
  metier runs --all                          those of every project, with their folders
  metier runs --skill deploy --since 7d      those of the last week in which a skill was used
  metier runs --outcome failed --json        for programs
  metier runs --search 'release notes'       those with both words in a request, an answer or a failure

`metier log ID` shows one of them; the six letters at the beginning of a line are enough.")]
pub(crate) struct Runs {
    /// Also lists those of other projects
    #[arg(long)]
    pub(crate) all: bool,
    /// How many to list
    #[arg(short = 'n', long = "number", value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    pub(crate) number: usize,
    /// Only those in which this skill was used
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<String>,
    /// Only those that ended so
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Option<Ending>,
    /// Only those since then: 30m, 2h, 7d, 2026-11-16 or a whole timestamp
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub(crate) since: Option<Timestamp>,
    /// Only those with all these words in one request, answer or failure
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
}

pub(super) fn since(text: &str) -> Result<Timestamp, String> {
    moment::since(text, Timestamp::now())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ending {
    /// As it should
    Done,
    /// With a part of the result, such as at a limit
    Partial,
    /// Without a result
    Failed,
    /// Stopped by somebody
    Cancelled,
    /// For want of a yes
    NeedsYes,
    /// Not yet: it is running, or was killed
    Open,
}

/// Shows what happened in one run: skills, tools, results, decisions, the end and its sums
///
/// Without an ID, the latest run. What a model wrote is shown as it is; a line of metier's begins with a word in brackets.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier log                                 the latest run
  metier log 3kx9qa                          the run that `metier runs` lists so
  metier log -f                              goes on until it ends, or Ctrl-C
  metier log --skill deploy                  what one skill did
  metier log --kind called --kind finished   tool calls and their results
  metier log --json                          every event whole, one a line
  metier log --format skilled-crew --save logs --name monday
                                             as that system keeps it, in logs/monday.jsonl")]
pub(crate) struct Log {
    /// The run: the letters that `metier runs` shows, or the beginning of its id; the latest if left out
    pub(crate) id: Option<String>,
    /// Goes on with what happens, until the run has ended or Ctrl-C
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Only what is about this skill
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<String>,
    /// Only events of this kind, such as `called`, `decided` or `answered` (repeatable)
    #[arg(long = "kind", value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
    /// Writes the whole session as another system keeps it, one JSON object a line; metier's own lines without it
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["follow", "skill", "kinds"])]
    pub(crate) format: Option<LogFormat>,
    /// The folder to write it to, as NAME.jsonl; standard output without it
    #[arg(long, value_name = "DIR", requires = "format")]
    pub(crate) save: Option<PathBuf>,
    /// What the session is called there; its short id if left out
    #[arg(long, value_name = "NAME", requires = "save")]
    pub(crate) name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// `user_message`, `step` and `final_result`, with timestamps
    SkilledCrew,
}

/// Lists the agents and crews that somebody wrote down, and says what is wrong with them
///
/// They are looked for in `.metier/agents`, `.agents/agents`, `.claude/agents`, `agents`, `workspace/agents`, `crews` and
/// `skillets` of the project, in crew files of the project and of the current folder, and in your own `agents` folders. Those of
/// a project that you have not trusted are shown and not run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier agents                    every one, and its problems
  metier agents reviewer           one, with everything there is to say about it
  metier agents team/todo.skilled_crew.yaml --json

With names, the exit code is 1 when one of them would not start.")]
pub(crate) struct Agents {
    /// Only these: a FILE, or a NAME of the list
    #[arg(value_name = "AGENT")]
    pub(crate) names: Vec<String>,
}

/// Prepares a project: writes a metier.toml that explains itself, shows what is found from here, and asks for trust
///
/// A file that is there is left as it is. Nothing is switched on without a yes; where nobody can be asked, `metier trust` does it
/// later.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier init
  metier init --model ollama/qwen3           would this model be asked?
  metier init --json                         for programs; asks nothing")]
pub(crate) struct Init {
    #[command(flatten)]
    pub(crate) model: ModelFlag,
}
