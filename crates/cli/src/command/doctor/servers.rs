//! The MCP servers, each asked: whoever looks for what is wrong wants to know whether they answer.

use crate::output::{Output, Tone, clean};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_mcp_client::ServerSummary;
use metier_tools::{ServerStatus, ToolServer};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ServerFinding {
    label: String,
    endpoint: String,
    /// Folders of the project that it writes at once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    write: Vec<String>,
    answers: bool,
    /// Why it does not.
    why: Option<String>,
    tools: Option<usize>,
    skills: Option<usize>,
}

/// Asks all servers for what they have.
pub(super) fn examine(surroundings: &Surroundings) -> Vec<ServerFinding> {
    let Some(servers) = &surroundings.servers else { return Vec::new() };
    // What they list was asked for by now; this is for the tools.
    let _ = ToolServer::tools(servers);
    let summaries = servers.summaries().into_iter();
    summaries
        .map(|ServerSummary { label, endpoint, write, footing, tools, skills }| {
            let why = match &footing {
                ServerStatus::Down(why) => Some(why.clone()),
                ServerStatus::Idle | ServerStatus::Up => None,
            };
            ServerFinding { label, endpoint, write, answers: footing == ServerStatus::Up, why, tools, skills }
        })
        .collect()
}

pub(super) fn write(servers: &[ServerFinding], output: &mut Output) -> Result<()> {
    if servers.is_empty() {
        return Ok(());
    }
    output.section("MCP servers")?;
    for server in servers {
        let count = |number: Option<usize>, what: &str| number.map(|number| format!("{number} {what}"));
        let facts: Vec<String> =
            [count(server.tools, "tools"), count(server.skills, "skills")].into_iter().flatten().collect();
        let (tone, word) = match &server.why {
            Some(why) => (Tone::Caution, clean(why)),
            None => (Tone::Good, format!("answers ({})", facts.join(", "))),
        };
        let word = output.tinted(tone, &word);
        output.line(format!("  {:<22} {}", format!("mcp.{}", server.label), clean(&server.endpoint)))?;
        output.line(format!("  {:<22} {word}", ""))?;
        if !server.write.is_empty() {
            let folders = clean(&server.write.join(", "));
            output.line(format!("  {:<22} writes without asking: {folders}", ""))?;
        }
    }
    Ok(())
}
