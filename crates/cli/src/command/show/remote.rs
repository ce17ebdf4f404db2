//! `show` of a skill that a server offers: what its server listed, without a file of it being fetched.

use crate::command::trust::approval_word;
use crate::manifest;
use crate::output::{Output, Tone, clean};
use anyhow::Result;
use metier_catalog::{Entry, RemoteSkill, Snapshot, State};
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
struct Whole<'a> {
    name: &'a str,
    origin: &'a metier_catalog::Origin,
    state: State,
    approval: &'static str,
    server: &'a str,
    uri: &'a str,
    set: String,
    manifest: Value,
    files: Vec<File>,
}

#[derive(Serialize)]
struct File {
    path: String,
    size: u64,
    digest: String,
}

pub(super) fn run(
    snapshot: &Snapshot,
    entry: &Entry,
    skill: &RemoteSkill,
    output: &mut Output,
) -> Result<()> {
    let file = snapshot.read(entry)?;
    let files = skill.files.iter().map(|file| File {
        path: file.path.to_string(),
        size: file.size,
        digest: file.digest.to_string(),
    });
    let whole = Whole {
        name: entry.call_name(),
        origin: &snapshot.root(entry).origin,
        state: entry.state(),
        approval: approval_word(skill.approval),
        server: &skill.server,
        uri: &skill.uri,
        set: skill.set.to_string(),
        manifest: file.manifest().map(manifest::to_json).unwrap_or_default(),
        files: files.collect(),
    };
    if output.is_json() {
        return output.json(&whole);
    }
    write(&whole, output)
}

fn write(whole: &Whole<'_>, output: &mut Output) -> Result<()> {
    let name = output.tinted(Tone::Strong, &clean(whole.name));
    output.line(format!("{name} ({}, {})", whole.origin, whole.state))?;
    output.line(format!("  {:<16} {}, {}", "MCP server", clean(whole.server), whole.approval))?;
    output.line(format!("  {:<16} {}", "address", clean(whole.uri)))?;
    output.line(format!("  {:<16} {}", "digest", whole.set))?;
    if let Value::Object(keys) = &whole.manifest {
        output.section("what its server lists")?;
        for (key, value) in keys {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            output.line(format!("  {key:<16} {}", clean(&value)))?;
        }
    }
    output.section("files, fetched when they are used")?;
    for file in &whole.files {
        output.line(format!("  {:>9}  {}", file.size, clean(&file.path)))?;
    }
    if whole.state == State::Untrusted {
        output.comment(format!(
            "\n`metier use {0}` shows its text, `metier trust {0}` approves it",
            clean(whole.name)
        ))?;
    }
    Ok(())
}
