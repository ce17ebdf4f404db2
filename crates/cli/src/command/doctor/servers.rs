//! The MCP servers, each asked: whoever looks for what is wrong wants to know whether they answer.

use crate::output::{Output, Tone, clean};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_mcp_client::ServerSummary;
use metier_tools::{ServerStatus, ToolServer};
use serde_json::{Value, json};

/// Asks all servers for what they have.
pub(super) fn examine(surroundings: &Surroundings) -> Vec<ServerSummary> {
    let Some(servers) = &surroundings.servers else { return Vec::new() };
    // What they list was asked for by now; this is for the tools.
    let _ = ToolServer::tools(servers);
    servers.summaries()
}

/// Why a server does not answer, where that is known.
fn why_down(server: &ServerSummary) -> Option<&str> {
    match &server.footing {
        ServerStatus::Down(why) => Some(why),
        ServerStatus::Idle | ServerStatus::Up => None,
    }
}

/// One of them, for programs.
pub(super) fn object(server: &ServerSummary) -> Value {
    let mut object = json!({ "label": server.label, "endpoint": server.endpoint });
    // Folders of the project that it writes at once.
    if !server.write.is_empty() {
        object["write"] = json!(server.write);
    }
    object["answers"] = json!(server.footing == ServerStatus::Up);
    object["why"] = json!(why_down(server));
    object["tools"] = json!(server.tools);
    object["skills"] = json!(server.skills);
    object
}

pub(super) fn write(servers: &[ServerSummary], output: &mut Output) -> Result<()> {
    if servers.is_empty() {
        return Ok(());
    }
    output.section("MCP servers")?;
    for server in servers {
        let count = |number: Option<usize>, what: &str| number.map(|number| format!("{number} {what}"));
        let facts: Vec<String> =
            [count(server.tools, "tools"), count(server.skills, "skills")].into_iter().flatten().collect();
        let (tone, word) = match why_down(server) {
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
