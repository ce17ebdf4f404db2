//! `show` of a skill that a server offers: what its server listed, without a file of it being fetched.

use crate::command::trust::{approval_word, listed_files};
use crate::manifest;
use crate::output::{Output, Tone, clean};
use anyhow::Result;
use metier_catalog::{Entry, Origin, RemoteSkill, Snapshot, State};
use serde_json::{Value, json};

pub(super) fn run(
    snapshot: &Snapshot,
    entry: &Entry,
    skill: &RemoteSkill,
    output: &mut Output,
) -> Result<()> {
    let file = snapshot.read(entry)?;
    let manifest = file.manifest().map(manifest::to_json).unwrap_or_default();
    let origin = &snapshot.root(entry).origin;
    if !output.is_json() {
        return write(entry, origin, skill, &manifest, output);
    }
    output.json(&json!({
        "name": entry.call_name(),
        "origin": origin,
        "state": entry.state(),
        "approval": approval_word(skill.approval),
        "server": skill.server,
        "uri": skill.uri,
        "set": skill.set.to_string(),
        "manifest": manifest,
        "files": listed_files(skill),
    }))
}

fn write(
    entry: &Entry,
    origin: &Origin,
    skill: &RemoteSkill,
    manifest: &Value,
    output: &mut Output,
) -> Result<()> {
    let call_name = clean(entry.call_name());
    let name = output.tinted(Tone::Strong, &call_name);
    let approval = approval_word(skill.approval);
    output.line(format!("{name} ({origin}, {})", entry.state()))?;
    output.line(format!("  {:<16} {}, {approval}", "MCP server", clean(&skill.server)))?;
    output.line(format!("  {:<16} {}", "address", clean(&skill.uri)))?;
    output.line(format!("  {:<16} {}", "digest", skill.set))?;
    if let Value::Object(keys) = manifest {
        output.section("what its server lists")?;
        for (key, value) in keys {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            output.line(format!("  {key:<16} {}", clean(&value)))?;
        }
    }
    output.section("files, fetched when they are used")?;
    for file in &skill.files {
        output.line(format!("  {:>9}  {}", file.size, clean(&file.path.to_string())))?;
    }
    if entry.state() == State::Untrusted {
        output.comment(format!(
            "\n`metier use {call_name}` shows its text, `metier trust {call_name}` approves it"
        ))?;
    }
    Ok(())
}
