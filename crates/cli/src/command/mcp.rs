//! `mcp`: skills for another agent, at standard input and output.

mod config;

use crate::agency;
use crate::args::{BoundTo, Mcp};
use crate::declared::may_start;
use crate::output::{Output, clean};
use crate::screen;
use crate::signals;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_diagnostic::Diagnostic;
use metier_http::CLOSE_TIMEOUT;
use metier_mcp_server::Server;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn run(args: &Mcp, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    if let Some(host) = args.print_config {
        return config::print(host, &args.bound, &surroundings.global, output);
    }
    let server = server(&args.bound, surroundings, output)?;
    // One client asks one thing after another: a second thread would only be woken to wait.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("nothing can be waited for")?;
    let stop = stop_on_signal()?;
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = server.serve_stdio() => ended,
            () = stop => Ok(()),
        }
    });
    // Whatever a call has started ends with this process.
    runtime.shutdown_timeout(CLOSE_TIMEOUT);
    ended?;
    Ok(())
}

/// The server of this user's skills. Standard output belongs to the protocol, so everything is said on standard error, which hosts
/// keep in their logs.
pub(super) fn server(bound: &BoundTo, surroundings: &Surroundings, output: &mut Output) -> Result<Server> {
    may_start(surroundings)?;
    let skills = agency::builder(surroundings)?.watch().open();
    for problem in skills.rule_problems() {
        output.aside(&clean(&problem.to_string()))?;
    }
    let mut builder = Server::builder(skills.clone());
    if let Some(name) = &bound.skill {
        // Whoever names a skill that is not there has to know before a host shows an empty server.
        if let Err(problems) = skills.snapshot().resolve([name.as_str()]) {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            bail!("{}", clean(&problems.join("; ")));
        }
        builder = builder.only(name);
    }
    if !output.is_quiet() {
        builder = builder.on_diagnostic(|found: &Diagnostic| {
            let help = found.help.as_deref().map(|help| format!("; {help}")).unwrap_or_default();
            screen::err_line(clean(&format!("{}: {}{help}", found.code.name(), found.message)));
        });
    }
    builder.open().context("the server cannot be started")
}

/// Over when somebody says that it is enough. The second Ctrl-C ends metier at once.
pub(super) fn stop_on_signal() -> Result<impl Future<Output = ()> + Send + 'static> {
    static IS_SAID: AtomicBool = AtomicBool::new(false);
    let (said, heard) = tokio::sync::oneshot::channel();
    let mut said = Some(said);
    signals::hear(&[SIGINT, SIGTERM], move |signal| {
        if IS_SAID.swap(true, Ordering::Relaxed) {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
        if let Some(said) = said.take() {
            let _ = said.send(());
        }
    })?;
    Ok(async move {
        let _ = heard.await;
    })
}
