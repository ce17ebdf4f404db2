//! `trust mcp.LABEL:NAME`: approves a skill that a server offers, as it is listed now.

use crate::args::TrustAction;
use crate::output::{Output, Tone, clean};
use crate::servers::ask_for;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_catalog::{Approval, Include, Lookup, RemoteSkill, TrustStore};
use metier_diagnostic::counted;
use serde_json::{Value, json};

pub(super) fn run(
    name: &str,
    action: &TrustAction,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<()> {
    // What is approved is what the server lists now, not what it once did.
    let surroundings = ask_for(name, surroundings)?;
    let snapshot = surroundings.snapshot(Include::Usual);
    let (Lookup::Found(_, entry) | Lookup::Unusable(_, entry)) = snapshot.find(&name.parse()?) else {
        bail!("`{name}`: {}", snapshot.in_words(&snapshot.find(&name.parse()?)));
    };
    let Some(skill) = entry.remote() else { bail!("`{name}` is no skill of an MCP server") };
    let data = &surroundings.places.data;
    if action.revoke {
        let was = TrustStore::update(data, |store| Ok(store.disapprove(&skill.server, &skill.uri)))?;
        let word = if was { "is not approved any more" } else { "was not approved" };
        return output.line(format!("{} {word}", clean(entry.call_name())));
    }
    let name = entry.call_name();
    let file = snapshot.read(entry).ok();
    // Its lists of tools, which count once it is approved.
    let tools = file.as_ref().and_then(|file| file.manifest()?.tool_list()).unwrap_or_default();
    let tools: Vec<String> = tools.iter().map(ToString::to_string).collect();
    let paths = skill.files.iter().map(|file| file.path.to_string());
    let scripts: Vec<String> = paths.filter(|path| path.starts_with("scripts/")).collect();
    // It is approved as a whole, so what changed is shown as a whole.
    let only_shows = action.preview || action.diff;
    if !only_shows {
        let servers = surroundings.servers.as_ref().context("there is no MCP server")?;
        let config = servers.configs().find(|config| config.label == skill.server);
        let endpoint = config.context("its server is not configured any more")?.endpoint();
        let when = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        TrustStore::update(data, |store| {
            store.approve(skill, &endpoint, &when);
            Ok(())
        })?;
    }
    if output.is_json() {
        return output.json(&json!({
            "name": name,
            "server": skill.server,
            "uri": skill.uri,
            "approval": word(skill.approval),
            "set": skill.set.to_string(),
            "files": listed_files(skill),
            "tools": tools,
            "scripts": scripts,
        }));
    }
    write(name, skill, &tools, &scripts, output)?;
    let name = clean(name);
    if only_shows {
        return output.section(format!("{}; `metier trust {name}` approves it", word(skill.approval)));
    }
    output.section("approved as it is listed now: any change of its files takes that back")?;
    output.comment(format!("take it back with `metier trust --revoke {name}`"))
}

fn write(
    name: &str,
    skill: &RemoteSkill,
    tools: &[String],
    scripts: &[String],
    output: &mut Output,
) -> Result<()> {
    let name = output.tinted(Tone::Strong, &clean(name));
    output.line(format!("{name} of the MCP server {}", clean(&skill.server)))?;
    output.line(format!("  address  {}", clean(&skill.uri)))?;
    output.line(format!("  digest   {} (of all addresses and digests)", skill.set))?;
    for script in scripts {
        output.line(format!("  could run script {}", clean(script)))?;
    }
    if !tools.is_empty() {
        output.line(format!("  its tool list counts: {}", clean(&tools.join(", "))))?;
    }
    output.line("  commands in its text, if it has any, run when it is activated, contained")?;
    output.section(counted(skill.files.len(), "file", "files"))?;
    for file in &skill.files {
        output.line(format!("  {:>9}  {}  {}", file.size, file.digest, clean(&file.path.to_string())))?;
    }
    Ok(())
}

/// The files of a skill, for programs.
pub(crate) fn listed_files(skill: &RemoteSkill) -> Vec<Value> {
    let files = skill.files.iter();
    files
        .map(|file| {
            json!({ "path": file.path.to_string(), "size": file.size, "digest": file.digest.to_string() })
        })
        .collect()
}

/// How an approval is told.
pub(crate) fn word(approval: Approval) -> &'static str {
    match approval {
        Approval::Approved => "approved",
        Approval::Changed => "changed since it was approved",
        Approval::NotYet => "not approved",
    }
}
