//! The command line: what can be said, and the help that teaches it. What it means is in [`crate::command`].

mod agent;
mod approvals;
mod call;
mod changes;
mod check;
mod command_word;
mod over_time;
mod reference;
mod secret;
mod serving;
mod skills;
mod trust;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

pub(crate) use self::agent::{Agents, Ending, Init, Log, LogFormat, Run, Runs, Working};
pub(crate) use self::approvals::{Approvals, ApprovalsAction, Revoke};
pub(crate) use self::call::{Call, Exec, Prepare, Tools, UseSkill};
pub(crate) use self::changes::{
    Changes, ChangesAction, ChangesApply, ChangesDiscard, ChangesShow, ChangesUndo,
};
pub(crate) use self::check::{Catalog, Check, CheckFormat, Format, Route};
pub(crate) use self::command_word::command_word;
pub(crate) use self::over_time::{Chat, Forget, Resume, Stats};
pub(crate) use self::reference::{Completions, Reference, Schema};
pub(crate) use self::secret::{Secret, SecretAction, SecretList, SecretRemove, SecretSet};
pub(crate) use self::serving::{BoundTo, Host, Mcp, Serve};
pub(crate) use self::skills::{Explain, List, New, Show};
pub(crate) use self::trust::{Toggle, Trust, TrustAction};

/// Finds, checks and runs Agent Skills, whatever dialect they are written in.
#[derive(Debug, Parser)]
#[command(
    name = "metier",
    version,
    arg_required_else_help = true,
    after_help = "Examples:
  metier run \"what is on my list\"  the right skill, activated and run; no model needed
  metier list                      every skill metier finds from here, and what is wrong with the rest
  metier list --root ~/skills      look in this folder instead of the usual ones
  metier explain deploy            why a name is found, shadowed, hidden or broken
  metier catalog                   exactly what a model would see first

Exit codes: 0 fine, 1 failed, 2 wrong usage, 4 needs a yes."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Looks for skills in DIR instead of the usual folders; may be repeated, the first wins
    // An empty one, as a script has it whose variable is not set, is no root and no mistake.
    #[arg(long, value_name = "DIR", global = true, value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) root: Vec<PathBuf>,
    /// Allows what RULE says for this call, such as `skill:deploy`; may be repeated
    #[arg(long, value_name = "RULE", global = true)]
    pub(crate) allow: Vec<String>,
    /// Denies what RULE says for this call; may be repeated, and wins over everything
    #[arg(long, value_name = "RULE", global = true)]
    pub(crate) deny: Vec<String>,
    /// What happens where no rule says anything: ask, strict, allow, plan or yolo
    #[arg(long, value_name = "MODE", global = true)]
    pub(crate) mode: Option<String>,
    /// Writes JSON for programs instead of text for people
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Leaves out everything but the answer itself
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    Always,
    Never,
}

/// Defines the commands, and with the same names how each is put together by itself: see `Cli::read`.
macro_rules! commands {
    ($($variant:ident($arguments:ty) = $name:literal,)*) => {
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $(#[command(name = $name)] $variant($arguments),)*
        }

        /// Each command by its name. They are functions of their own, since one that made all of them would need memory for
        /// all of them.
        const COMMANDS: &[(&str, fn() -> clap::Command)] =
            &[$(($name, || <$arguments>::augment_args(clap::Command::new($name))),)*];
    };
}

commands! {
    Run(Run) = "run",
    Chat(Chat) = "chat",
    Agents(Agents) = "agents",
    List(List) = "list",
    Show(Show) = "show",
    Explain(Explain) = "explain",
    Use(UseSkill) = "use",
    Exec(Exec) = "exec",
    Prepare(Prepare) = "prepare",
    Tools(Tools) = "tools",
    Call(Call) = "call",
    Check(Check) = "check",
    Catalog(Catalog) = "catalog",
    Route(Route) = "route",
    Runs(Runs) = "runs",
    Log(Log) = "log",
    Resume(Resume) = "resume",
    Stats(Stats) = "stats",
    Forget(Forget) = "forget",
    Mcp(Mcp) = "mcp",
    Serve(Serve) = "serve",
    Init(Init) = "init",
    New(New) = "new",
    Secret(Secret) = "secret",
    Trust(Trust) = "trust",
    Changes(Changes) = "changes",
    Approvals(Approvals) = "approvals",
    Enable(Toggle) = "enable",
    Disable(Toggle) = "disable",
    Doctor(Doctor) = "doctor",
    Schema(Schema) = "schema",
    Completions(Completions) = "completions",
}

/// Checks metier's own surroundings: folders, configuration, trust, what contains processes here, and every problem with
/// a skill
#[derive(Debug, Args)]
pub(crate) struct Doctor {}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number, 1 or more".to_owned()),
        Ok(number) => Ok(number),
    }
}
