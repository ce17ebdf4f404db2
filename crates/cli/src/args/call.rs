//! What can be said about using one skill: its text, its scripts, its packages and the tools of a model.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use metier_catalog::CommandsStart;
use metier_runtime::{Surface, ToolFormat};
use std::path::PathBuf;

/// Which skill counts as active.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct ActiveSkills {
    /// As if this skill were active: its fence and its grants hold; may be repeated, and then every fence holds
    #[arg(long = "skill", value_name = "NAME")]
    pub(crate) skills: Vec<String>,
}

/// Shows exactly what activating a skill would put into the conversation
///
/// The skill's text with its tokens replaced, its injected commands run (contained, and only if the skill is trusted and the
/// gate allows it) and its files listed, in the envelope in which a model gets it. What there is to say about it goes to
/// standard error. A skill that is not trusted is shown to you with its commands as text, and to no model.
/// docs/activation.md and docs/substitution.md have the whole story.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier use review -- src/main.rs             one argument: the argument text, as typed behind /review
  metier use compare -- main 'my branch'       several: each kept as it is
  metier use review --dry-run -- 42            what would be replaced and run; nothing runs
  metier use review --raw | wl-copy            without the envelope, to paste into another client
  metier use review --json                     text, digest, scope and diagnostics, for programs

The exit code is 0 when the skill was shown, 1 when it could not be, 4 when it needs a yes.")]
pub(crate) struct UseSkill {
    /// The skill: NAME, ORIGIN:NAME or NAME@REQUIREMENT
    pub(crate) name: String,
    /// Lists the tokens and commands and what would become of them, and runs nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Leaves the envelope out, as a fork or another client gets the text
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) raw: bool,
    /// What the skill is started with
    #[arg(value_name = "ARGS", last = true)]
    pub(crate) arguments: Vec<String>,
}

/// Runs a script of a skill, contained
///
/// The script sees the skill's folder, the project (files that look like secrets cannot be opened; what it changes is
/// applied afterwards, where you approve it: docs/changes.md), a scratch folder (`TMPDIR`), the skill's own data folder (`SKILL_DATA`) and the system's programs: nothing else of your
/// files, nobody on the network, none of your environment. When it returns, every process it started is dead. `metier
/// doctor` says what holds it on this machine; docs/containment.md has the whole story, docs/needs.md how a script gets
/// more.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier exec count-lines count.sh             starts in the current folder, if that is in the project
  metier exec count-lines count.sh -- docs
  metier exec report make.py --out results     take along what it left in TMPDIR
  metier exec report make.py --json            the whole report, for programs
  metier exec site fetch.py --host api.example.org --write 'docs/**'

What the script may do beyond its containment is asked about once; flags are a yes.

The exit code is 0 when the script's was, 1 when it failed or was stopped, 4 when it needs a yes or changes wait for one
(docs/changes.md).")]
pub(crate) struct Exec {
    /// The skill: NAME, ORIGIN:NAME or NAME@REQUIREMENT
    pub(crate) name: String,
    /// The script, a file in the skill's scripts/
    pub(crate) script: String,
    /// Copies what the script leaves in its scratch folder to DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replaces files in DIR that exist already
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Copies results whose names begin with a dot, too; protected places stay as they are
    #[arg(long, requires = "out")]
    pub(crate) with_hidden: bool,
    /// Lets it reach a host: api.example.com, *.example.com, with :PORT or without (repeatable)
    #[arg(long = "host", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// Lets it write to places of the project, seen from the current folder: 'docs/**', CHANGELOG.md (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(crate) write: Vec<String>,
    /// Lets it see a variable: the skill's secret of that name, else yours (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) env: Vec<String>,
    /// Where it starts: in the skill's folder or in the project's; without it in the current folder if that is in the project
    #[arg(long = "in", value_name = "PLACE", value_parser = PossibleValuesParser::new(["skill", "project"]).map(|word| start_folder(&word)))]
    pub(crate) start: Option<CommandsStart>,
    /// How long it may take, in seconds; 120 unless the skill or the configuration says otherwise
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: Option<u64>,
    /// What the script is told, word by word; no shell reads it
    #[arg(value_name = "ARGS", last = true)]
    pub(crate) arguments: Vec<String>,
}

fn start_folder(word: &str) -> CommandsStart {
    if word == "skill" { CommandsStart::Skill } else { CommandsStart::Project }
}

/// Installs the packages that a skill's scripts want, for this skill alone
///
/// They are named by the skill: in `requirements.txt` or the `# /// script` block of a script for Python, in `package.json` for
/// Node. They come from pypi.org and registry.npmjs.org, which takes a yes or a rule, and are kept in the skill's data
/// folder with a lock of exact versions and digests. Scripts then run with them. Nothing of a package runs while it is
/// installed: Python packages have to come as wheels, and install scripts of Node packages are left out. A second time
/// nothing is fetched. docs/prepare.md has the whole story.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier prepare report                        asks before it reaches a registry
  metier prepare report --allow 'skill:report/host:pypi.org' --allow 'skill:report/host:files.pythonhosted.org'
  metier prepare report --offline              only from what was fetched before
  metier exec report make.py                   runs with what was prepared

The exit code is 0 when all is ready, 1 when something failed, 4 when it needs a yes.")]
pub(crate) struct Prepare {
    /// The skill: NAME, ORIGIN:NAME or NAME@REQUIREMENT
    pub(crate) name: String,
    /// Reaches nobody: fails when something has to be fetched; without it, that is asked about
    #[arg(long)]
    pub(crate) offline: bool,
}

/// Shows the tools that a model would be offered with the skills that are here
///
/// Which tools there are is settled when a session starts: no skills, no tools; no script tool without scripts;
/// `skill_search` when not every skill is described. docs/tools.md has them all.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier tools
  metier tools --surface agentmd
  metier tools --format anthropic > tools.json   as they stand in a request")]
pub(crate) struct Tools {
    /// Whose tools: canonical, agentmd, skilled-crew, adk or claude-code
    #[arg(long, value_name = "SURFACE", default_value = "canonical")]
    pub(crate) surface: Surface,
    /// Prints the definitions as JSON for openai, anthropic or mcp; a summary without it
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<ToolFormat>,
}

/// Makes one tool call as a model would make it, and prints the result as the model would get it
///
/// The result goes to standard output, and behind it the message that follows an activation; notes for you go to standard
/// error. The exit code is 1 when the call was not carried out.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  metier call run_command_line '{\"reason\": \"look\", \"commandLine\": \"git log -3\"}' --skill review
  metier call skill_read_file '{\"skill_name\": \"review\", \"file_path\": \"references/style.md\"}'
  metier call load_skill_resource '{\"skill_name\": \"review\", \"resource_path\": \"references/style.md\"}'

`metier tools` lists what can be called.")]
pub(crate) struct Call {
    /// The tool
    pub(crate) tool: String,
    /// Its input, a JSON object
    #[arg(value_name = "JSON")]
    pub(crate) input: String,
    #[command(flatten)]
    pub(crate) scope: ActiveSkills,
    /// Whose tools: canonical, agentmd, skilled-crew, adk or claude-code; without it canonical, where the tools of all answer
    #[arg(long, value_name = "SURFACE")]
    pub(crate) surface: Option<Surface>,
    /// A folder for what a program wrote beyond what a model gets; the result names the files
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replaces files in DIR that exist already
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}
