//! `serve`: skills for other agents, over HTTP.

use super::mcp::{server, stop_on_signal};
use crate::args::Serve;
use crate::output::Output;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result};
use metier_http::{CLOSE_TIMEOUT, ConnectionLimits, Guard, Site, Token};
use metier_mcp_server::HttpService;
use rustix::process::{Resource, getrlimit};
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

/// The path of MCP.
const MCP_PATH: &str = "/mcp";

pub(crate) fn run(args: &Serve, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let file = (!args.no_token).then(|| token_file(surroundings));
    let kept =
        file.as_deref().map(if args.new_token { Token::new_in } else { Token::kept_in }).transpose()?;
    let token = kept.as_ref().map(|token| token.reveal().to_owned());
    let guard = args.host_names.iter().fold(Guard::new(kept), |guard, name| guard.host(name));
    let site = Site::take(args.listen, guard, limits(args)).with_context(|| {
        if args.listen.port() == 0 {
            "nothing is served"
        } else {
            "nothing is served; `--listen 127.0.0.1:0` takes any port that is free"
        }
    })?;
    let server = server(&args.bound, surroundings, output)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.context("no threads can be had")?;
    let stop = stop_on_signal()?;
    if output.is_json() {
        output.json(&json!({ "url": site.url(MCP_PATH), "token": token, "token_file": file }))?;
    } else {
        output.line(format!("MCP is at {}", site.url(MCP_PATH)))?;
        match (&token, &file) {
            (Some(token), Some(file)) => {
                output.line(format!("token: {token}"))?;
                output.comment(format!(
                    "kept in {}; hosts send it as `Authorization: Bearer …`",
                    surroundings.shown(file)
                ))?;
            }
            _ => output.line(
                "there is NO TOKEN: every program on this machine can use your skills and run their scripts",
            )?,
        }
        if !site.address().ip().is_loopback() {
            output.line("others on the network reach this, and what is sent is NOT ENCRYPTED: put a proxy with TLS before it")?;
        }
    }
    output.flush()?;
    let service = server.http_service();
    let closing = service.clone();
    let answer = move |request| {
        let service = service.clone();
        async move { service.answer(request).await }
    };
    let stop = async move {
        stop.await;
        closing.close();
    };
    let ended = runtime.block_on(site.serve(MCP_PATH, HttpService::MAX_REQUEST_BYTES, answer, stop));
    runtime.shutdown_timeout(CLOSE_TIMEOUT);
    ended?;
    Ok(())
}

/// What clients may take up. Connections never take more than half of the descriptors: calls need some as well.
fn limits(args: &Serve) -> ConnectionLimits {
    let descriptors = getrlimit(Resource::Nofile).current.and_then(|most| usize::try_from(most).ok());
    let most = descriptors.map_or(usize::MAX, |descriptors| (descriptors / 2).max(1));
    ConnectionLimits {
        connections: args.max_connections.min(most),
        per_address: args.max_per_address,
        head_timeout: Duration::from_secs(args.head_timeout),
        body_timeout: Duration::from_secs(args.body_timeout),
    }
}

/// Where the token is kept: with what metier knows, and not with its configuration, which people put under version control.
fn token_file(surroundings: &Surroundings) -> PathBuf {
    surroundings.places.data.join("serve-token")
}
