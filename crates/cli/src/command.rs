//! One file per command. Each takes what was said and gives back how it ended.

mod agents;
mod approvals;
mod asked;
mod call;
mod catalog;
mod changes;
mod chat;
mod check;
mod completions;
mod doctor;
mod exec;
mod explain;
mod forget;
mod init;
mod list;
mod log;
mod mcp;
mod new;
mod prepare;
mod resume;
mod root_finding;
mod route;
mod run;
mod runs;
mod schema;
pub(crate) mod secret;
mod serve;
mod show;
mod stats;
mod toggle;
mod tools;
mod trust;
pub(crate) mod trust_question;
mod use_skill;

pub(crate) use self::exec::shell_word;
use crate::args::{Cli, Command};
use crate::exit::Exit;
use crate::head_start::HeadStart;
use crate::output::Output;
use crate::surroundings::Surroundings;
use crate::trust_report;
use anyhow::Result;
use metier_catalog::Switch;

/// Runs a command.
pub(crate) fn run(cli: Cli, head_start: HeadStart, output: &mut Output) -> Result<Exit> {
    // These two need neither configuration nor skills, and must work where those are broken.
    let Cli { global, command } = cli;
    let command = match command {
        Command::Schema(args) => return schema::run(args.what, output),
        Command::Completions(args) => return completions::run(&args, output).map(|()| Exit::Fine),
        command => command,
    };
    let surroundings = Surroundings::look_around(global)?;
    changes::recover(&surroundings, output)?;
    // `run` and `chat` ask about it first, and say it where nobody could be asked.
    if trust_report::acts(&command) {
        trust_report::tell(&surroundings, output)?;
    }
    match command {
        Command::Use(args) => return use_skill::run(&args, &surroundings, output),
        Command::Exec(args) => return exec::run(&args, &surroundings, head_start, output),
        Command::Prepare(args) => return prepare::run(&args, &surroundings, output),
        Command::Call(args) => return call::run(&args, &surroundings, output),
        Command::Check(args) => return check::run(&args, &surroundings, output),
        Command::Run(args) => return run::run(&args, &surroundings, output),
        Command::Chat(args) => return chat::run(&args, &surroundings, output),
        Command::Resume(args) => return resume::run(&args, &surroundings, output),
        Command::Agents(args) => return agents::run(&args, &surroundings, output),
        Command::Forget(args) => return forget::run(&args, &surroundings, output),
        Command::Changes(args) => return changes::run(&args, &surroundings, output),
        Command::Doctor(_) => return doctor::run(&surroundings, output),
        Command::List(args) => list::run(&args, &surroundings, output)?,
        Command::Show(args) => show::run(&args.name, &surroundings, output)?,
        Command::Explain(args) => explain::run(&args, &surroundings, output)?,
        Command::Tools(args) => tools::run(&args, &surroundings, output)?,
        Command::Catalog(args) => catalog::run(&args, &surroundings, output)?,
        Command::Route(args) => route::run(&args, &surroundings, output)?,
        Command::Runs(args) => runs::run(&args, &surroundings, output)?,
        Command::Log(args) => log::run(&args, &surroundings, output)?,
        Command::Stats(args) => stats::run(&args, &surroundings, output)?,
        Command::Mcp(args) => mcp::run(&args, &surroundings, output)?,
        Command::Serve(args) => serve::run(&args, &surroundings, output)?,
        Command::Init(args) => init::run(&args, &surroundings, output)?,
        Command::New(args) => new::run(&args, &surroundings, output)?,
        Command::Secret(args) => secret::run(&args.action, &surroundings, output)?,
        Command::Trust(args) => trust::run(&args, &surroundings, output)?,
        Command::Approvals(args) => approvals::run(&args, &surroundings, output)?,
        Command::Enable(args) => toggle::run(&args.names, Switch::Enable, &surroundings, output)?,
        Command::Disable(args) => toggle::run(&args.names, Switch::Disable, &surroundings, output)?,
        Command::Schema(_) | Command::Completions(_) => {}
    }
    Ok(Exit::Fine)
}
