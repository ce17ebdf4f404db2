//! The program `metier`: arguments in, one command, output.
//!
//! What it is not: nothing here knows how a skill is parsed, found or judged. It passes what the user and the
//! environment say to the libraries and shows what they answer.

mod agency;
mod agent_choice;
mod approval_store;
mod args;
mod bundled;
mod cast;
mod chat;
mod command;
mod crew_log;
mod declared;
mod ending;
mod environment;
mod event_json;
mod event_line;
mod exit;
mod gatekeeper;
mod head_start;
mod interrupt;
mod json_text;
mod keyboard;
mod manifest;
mod model_choice;
mod moment;
mod outfit;
mod output;
mod passing_line;
mod question;
mod requirement;
mod resuming;
mod run_view;
mod sandbox_setup;
mod screen;
mod script_output;
mod servers;
mod signals;
mod skill_models;
mod slash_line;
mod surroundings;
mod trust_report;
mod typed_path;
mod user_values;

use args::Cli;
use exit::Exit;
use head_start::HeadStart;
use output::Output;
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    // First thing: what contains a process is this program again, under another name.
    metier_sandbox::helper(std::env::args_os());
    let head_start = HeadStart::take(std::env::args_os().skip(1));
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Fine };
            let _ = error.print();
            return exit.into();
        }
    };
    let mut output = Output::new(&cli.global);
    let result = command::run(cli, head_start, &mut output).and_then(|exit| {
        output.flush()?;
        Ok(exit)
    });
    let code = match result {
        Ok(exit) => exit.into(),
        // Whoever read us has seen enough (`metier list | head`): that is not a failure.
        Err(error) if is_broken_pipe(&error) => Exit::Fine.into(),
        Err(error) => {
            let _ = output.flush();
            output::complain(&error);
            Exit::Failed.into()
        }
    };
    interrupt::settle();
    code
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind =
        |cause: &(dyn std::error::Error + 'static)| cause.downcast_ref::<io::Error>().map(io::Error::kind);
    error.chain().any(|cause| kind(cause) == Some(io::ErrorKind::BrokenPipe))
        || error.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind)
            == Some(io::ErrorKind::BrokenPipe)
}
