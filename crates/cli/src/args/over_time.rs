//! What can be said about the agent over time: talk to it, go on, look back, forget.

use super::agent::{Working, since};
use clap::{ArgGroup, Args};
use metier_store::Timestamp;

/// Talks with the agent: a message, an answer, and so on, in one conversation
///
/// A line is a message. `/NAME ARGUMENTS` starts a skill yourself, `$NAME` in a message activates one, `/help` lists the rest. A
/// backslash at the end of a line or Alt-Enter begins another line of the same message; what is pasted is one message.
/// Ctrl-C stops what the agent does and not metier; Ctrl-D, `/exit` or Ctrl-C twice leaves. docs/chat.md has the whole story.
///
/// Where standard input is no terminal, each line of it is a message and gets one answer.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  metier chat
  metier chat --model ollama/qwen3
  metier chat --agent reviewer               with an agent that somebody wrote down: see docs/agents.md
  metier chat --resume 3kx9qa                goes on with what `metier runs` lists so
  printf 'what is on my list\\nadd milk to it\\n' | metier chat --json

Exit codes without a terminal: 0 when each message was done, 4 when one needs a yes, 1 otherwise.")]
pub(crate) struct Chat {
    /// The agent or crew to talk with: a FILE, or a NAME that `metier agents` lists
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Goes on with this session: the letters that `metier runs` shows, or the beginning of its id
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) working: Working,
}

/// Resumes an interrupted run of this project, from the last step that was finished
///
/// A run of another project is resumed in that project's folder, after a question that names it. Its commands never run here.
///
/// A step that was begun and not finished is named first. One that only looks is done again; any other may have happened, and is
/// done again only if you say so.
///
/// It exits as `metier run` does, with 4 where a step takes a yes that nobody gives.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  metier resume                              the latest run of this project that did not come to its end
  metier resume 3kx9qa                       this one
  metier resume --all                        the latest of every project
  metier resume --yes                        does again what was begun, without the question
  metier resume --leave                      does not; the model is told that it may have happened")]
pub(crate) struct Resume {
    /// The run: the letters that `metier runs` shows, or the beginning of its id; the latest that is open if left out
    pub(crate) id: Option<String>,
    /// Also looks at runs of other projects
    #[arg(long, conflicts_with = "id")]
    pub(crate) all: bool,
    /// Does again what was begun and may have happened; asked about without it
    #[arg(long, short, conflicts_with = "leave")]
    pub(crate) yes: bool,
    /// Leaves what was begun and may have happened; the model is told, and goes on
    #[arg(long)]
    pub(crate) leave: bool,
    #[command(flatten)]
    pub(crate) working: Working,
}

/// Says which skills earn their place in this project: how often each was offered, used and by whom, how it went, what it cost
///
/// Skills that are here and were never used are named at the end. `--routing` says instead how well requests found their skills.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  metier stats
  metier stats --all                         of every project
  metier stats --since 30d                   what was used lately
  metier stats --skill deploy                one of them
  metier stats --routing                     at which rank the skills that were used had been offered
  metier stats --json                        for programs")]
pub(crate) struct Stats {
    /// Also counts what happened in other projects
    #[arg(long)]
    pub(crate) all: bool,
    /// How requests found their skills: ranks, abstentions, what is offered and never chosen
    #[arg(long)]
    pub(crate) routing: bool,
    /// Only what happened since then: 30m, 2h, 7d, 2026-11-16 or a whole timestamp
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub(crate) since: Option<Timestamp>,
    /// Only this skill
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<String>,
}

/// Deletes what is kept of runs, so that nothing of it is left on the disk
///
/// It shows what would go and asks first. A run goes with its children and with the records that were kept in it.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).args(["ids", "before", "skill", "all"]))]
#[command(after_help = "\
Examples:
  metier forget 3kx9qa                       one run
  metier forget --before 30d                 everything that is older
  metier forget --skill deploy               the runs in which a skill was used, and its memory
  metier forget --skill deploy --memory      its memory alone
  metier forget --all --yes                  everything, without the question

The exit code is 4 when nobody said yes.")]
pub(crate) struct Forget {
    /// The runs: the letters that `metier runs` shows, or the beginning of an id
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// What has not changed since then: 30m, 2h, 7d, 2026-11-16 or a whole timestamp
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub(crate) before: Option<Timestamp>,
    /// The runs in which this skill was used, and what it remembers
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<String>,
    /// All runs, all memory, and the lines that were typed in `metier chat`
    #[arg(long)]
    pub(crate) all: bool,
    /// Only what is remembered; the runs stay
    #[arg(long)]
    pub(crate) memory: bool,
    /// Does not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}
