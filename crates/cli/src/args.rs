//! The command line: what can be said, and the help that teaches it. What it means is in [`crate::command`].

mod agent;
mod approvals;
mod call;
mod changes;
mod command_word;
mod over_time;
mod secret;
mod serving;

use self::call::ActiveSkills;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

pub(crate) use self::agent::{Agents, Ending, Init, Log, LogFormat, Run, Runs, Working};
pub(crate) use self::approvals::{Approvals, ApprovalsAction, Revoke};
pub(crate) use self::call::{Call, Exec, Prepare, Tools, UseSkill};
pub(crate) use self::changes::{
    Changes, ChangesAction, ChangesApply, ChangesDiscard, ChangesShow, ChangesUndo,
};
pub(crate) use self::command_word::command_word;
pub(crate) use self::over_time::{Chat, Forget, Resume, Stats};
pub(crate) use self::secret::{Secret, SecretAction, SecretList, SecretRemove, SecretSet};
pub(crate) use self::serving::{BoundTo, Host, Mcp, Serve};

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

/// Lists the skills that were found, and says what is wrong with those that failed
///
/// The first line counts them: `loaded` is every skill that could be read, whatever its state; `failed` is refused, and
/// each failure says where and why. Nothing is skipped in silence.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that stands for itself")]
pub(crate) struct List {
    /// Also shows nested, shadowed and disabled skills, identical copies, and where each came from
    #[arg(long)]
    pub(crate) all: bool,
    /// Shows what each skill costs: in the catalogue, and when it is activated
    #[arg(long)]
    pub(crate) tokens: bool,
    /// Adds the digest of each skill's folder (reads every file)
    #[arg(long)]
    pub(crate) digest: bool,
    /// Goes on after the list with a line for each change, until Ctrl-C; the list alone without it
    #[arg(long)]
    pub(crate) watch: bool,
}

/// Shows one skill whole: what it says of itself, its files, what it asks for
#[derive(Debug, Args)]
#[command(after_help = "A name may say where from and which version: `project:deploy`, `deploy@^1.2`.")]
pub(crate) struct Show {
    /// The skill: NAME, ORIGIN:NAME or NAME@REQUIREMENT
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

/// Says why a name is found, shadowed, disabled, untrusted, hidden, broken or missing, and what to do
///
/// With `--action`, says whether something would be allowed and by which rule; with `--last`, why the last call was
/// refused and the rule that would allow it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier explain deploy
  metier explain --action 'skill:deploy/script:run.sh'
  metier explain --action 'Bash(git push)' --skill deploy
  metier explain --last")]
#[command(group = ArgGroup::new("subject").required(true).args(["name", "action", "last"]))]
pub(crate) struct Explain {
    /// The name in question
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Would this be allowed? Written like a rule: `skill:NAME/command:git push`, `Bash(git status)`
    #[arg(long, value_name = "ACTION")]
    pub(crate) action: Option<String>,
    /// Why was the last call refused?
    #[arg(long)]
    pub(crate) last: bool,
    #[command(flatten)]
    pub(crate) scope: ActiveSkills,
}

/// Says what is wrong with skills, for whom, and mends what can be mended
///
/// A PATH is a SKILL.md, a folder with skills somewhere below it, the file of an agent or a crew, or `-` for standard input.
/// Without one, it is the current folder. The exit code is 1 when there are errors; with `--strict` warnings count, too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier check skills                        every skill below skills/
  metier check --for claude-code,codex pdf   will it load there, and mean the same there?
  metier check --diff . && metier check --fix .
                                             see what would be mended, then do it
  metier check --changed main                only skills that differ from a branch
  metier check .claude/agents/reviewer.md    an agent, or a crew: is everything there that it names?
  metier check --format sarif > metier.sarif for code scanning

Rules are allowed or denied in metier.toml: `[lint] allow = [\"unknown-key\"]`, for a path with `[[lint.paths]]`.
All of them are in docs/reference/rules.md.")]
pub(crate) struct Check {
    /// What to check
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Also says what these clients make of each skill
    #[arg(long = "for", value_name = "PROFILE", value_delimiter = ',')]
    pub(crate) profiles: Vec<String>,
    /// How findings are written; `--json` is `--format json`
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: CheckFormat,
    /// Mends what can be mended in only one way
    #[arg(long, conflicts_with = "diff")]
    pub(crate) fix: bool,
    /// Shows what `--fix` would change, and changes nothing
    #[arg(long)]
    pub(crate) diff: bool,
    /// Fails on warnings, too
    #[arg(long)]
    pub(crate) strict: bool,
    /// Only skills with changes since this git revision, files that are not yet added included
    #[arg(long, value_name = "REV")]
    pub(crate) changed: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people, with the line in question
    Text,
    /// For programs
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
}

/// Prints exactly what a model would see first
#[derive(Debug, Args)]
pub(crate) struct Catalog {
    /// How skills are listed; the default comes from the configuration
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// The most tokens it may take, at 4 bytes each; 4,000 if nothing else is configured
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<usize>,
    /// Adds the note that comes with this request: the skills that fit it best, each with its full description
    #[arg(long, value_name = "TEXT")]
    pub(crate) request: Option<String>,
}

/// Says which skills would be offered for a request, how well each fits, and why
///
/// Skills are read whole: name, description, headings, text, script names, and what they say they are not for. No model and
/// no network is used; the same skills and the same request always give the same answer. Where nothing fits well enough to
/// be taken without asking, that is said.
#[derive(Debug, Args)]
pub(crate) struct Route {
    /// What you want, in your own words
    #[arg(value_name = "REQUEST", required_unless_present = "batch", conflicts_with = "batch")]
    pub(crate) query: Option<String>,
    /// How many skills to show
    #[arg(short = 'k', long = "limit", value_name = "N", default_value_t = 5, value_parser = at_least_one)]
    pub(crate) limit: usize,
    /// Reads one JSON object a line (`id`, `query`) and writes one a line (`id`, `results`, `abstain`); `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) batch: Option<PathBuf>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number, 1 or more".to_owned()),
        Ok(number) => Ok(number),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A line per skill
    Markdown,
    /// `<available_skills>`, with the place of each
    Xml,
    /// Every skill's whole text
    Eager,
}

/// Makes a new skill: a folder with a SKILL.md that loads everywhere
#[derive(Debug, Args)]
pub(crate) struct New {
    /// The skill's name: lower-case letters, digits and hyphens
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What it does and when to use it; asked for on a terminal
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// The folder to make it in; the project's `.agents/skills`, or your own skills outside a project
    #[arg(long = "in", value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Adds scripts/run.sh, ready to run
    #[arg(long)]
    pub(crate) script: bool,
}

/// Trusts a project, so that its skills may be offered to a model
///
/// A project's skills are listed but not used until you say so. Trust covers what is there now, and edits of text. Anything
/// else that is new or changed (a skill, script, server, rule, variable, root, model, link, …) is not used until you trust the
/// project again; every command that acts names it, and `--diff` shows it.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Trust {
    /// The project's folder; the project you stand in if left out. Or a skill of an MCP server, mcp.LABEL:NAME, which is approved
    /// as the server lists it now
    #[arg(value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) action: TrustAction,
}

/// What to do instead of trusting.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag, and clap takes at most one of them")]
#[group(multiple = false)]
pub(crate) struct TrustAction {
    /// Lists everything that trust would switch on, and changes nothing
    #[arg(long)]
    pub(crate) preview: bool,
    /// Shows what was added, changed and removed since the project was trusted, and changes nothing
    #[arg(long)]
    pub(crate) diff: bool,
    /// Lists the projects that are trusted
    #[arg(long)]
    pub(crate) list: bool,
    /// Takes trust back
    #[arg(long)]
    pub(crate) revoke: bool,
    /// Trusts a project that you write yourself: later changes are not asked about
    #[arg(long)]
    pub(crate) mine: bool,
}

/// Switches skills on again (`enable`) or off (`disable`) in their root's `.disabled.json`
#[derive(Debug, Args)]
pub(crate) struct Toggle {
    /// The skills: NAME or ORIGIN:NAME
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
}

/// Checks metier's own surroundings: folders, configuration, trust, what contains processes here, and every problem with
/// a skill
#[derive(Debug, Args)]
pub(crate) struct Doctor {}

/// Prints reference material: JSON Schemas, the table of diagnostics, this command line
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Which one
    #[arg(default_value = "config")]
    pub(crate) what: Reference,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reference {
    /// JSON Schema of config.toml and metier.toml
    Config,
    /// JSON Schema of a SKILL.md's frontmatter
    Skill,
    /// JSON Schema of an agent's frontmatter
    Agent,
    /// JSON Schema of a crew file
    Crew,
    /// Every diagnostic, as Markdown
    Diagnostics,
    /// Every rule of `check`, with reasons and examples, as Markdown
    Rules,
    /// Every command and flag, as Markdown
    Cli,
}

/// Writes completions for a shell, or manual pages
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier completions bash > ~/.local/share/bash-completion/completions/metier
  metier completions man --out ~/.local/share/man/man1")]
pub(crate) struct Completions {
    /// The shell, or `man` for manual pages
    #[arg(value_name = "SHELL")]
    pub(crate) target: Target,
    /// The folder for manual pages
    #[arg(long, value_name = "DIR", required_if_eq("target", "man"))]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
    Man,
}
