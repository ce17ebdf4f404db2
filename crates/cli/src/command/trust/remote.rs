//! `trust mcp.LABEL:NAME`: approves a skill that a server offers, as it is listed now.

use crate::args::TrustAction;
use crate::output::{Output, Tone, clean};
use crate::servers::ask_for;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_catalog::{Approval, Include, Lookup, RemoteSkill, Snapshot, TrustStore};
use metier_diagnostic::counted;
use serde::Serialize;

#[derive(Serialize)]
struct Shown<'a> {
    name: &'a str,
    server: &'a str,
    uri: &'a str,
    approval: &'static str,
    set: String,
    files: Vec<File>,
    /// Its lists of tools, which count once it is approved.
    tools: Vec<String>,
    scripts: Vec<String>,
}

#[derive(Serialize)]
struct File {
    path: String,
    size: u64,
    digest: String,
}

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
    let shown = Shown::of(entry.call_name(), skill, &snapshot, entry);
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
        return output.json(&shown);
    }
    shown.write(output)?;
    if only_shows {
        output.section(format!("{}; `metier trust {}` approves it", shown.approval, clean(shown.name)))?;
    } else {
        output.section("approved as it is listed now: any change of its files takes that back")?;
        output.comment(format!("take it back with `metier trust --revoke {}`", clean(shown.name)))?;
    }
    Ok(())
}

impl<'a> Shown<'a> {
    fn of(name: &'a str, skill: &'a RemoteSkill, snapshot: &Snapshot, entry: &metier_catalog::Entry) -> Self {
        let file = snapshot.read(entry).ok();
        let list = file.as_ref().and_then(|file| file.manifest()?.tool_list());
        let tools = list.unwrap_or_default().iter().map(ToString::to_string).collect();
        let files = skill.files.iter().map(|file| File {
            path: file.path.to_string(),
            size: file.size,
            digest: file.digest.to_string(),
        });
        let is_script = |path: &&String| path.starts_with("scripts/");
        let files: Vec<File> = files.collect();
        let scripts = files.iter().map(|file| &file.path).filter(is_script).cloned().collect();
        Self {
            name,
            server: &skill.server,
            uri: &skill.uri,
            approval: word(skill.approval),
            set: skill.set.to_string(),
            tools,
            scripts,
            files,
        }
    }

    fn write(&self, output: &mut Output) -> Result<()> {
        let name = output.tinted(Tone::Strong, &clean(self.name));
        output.line(format!("{name} of the MCP server {}", clean(self.server)))?;
        output.line(format!("  address  {}", clean(self.uri)))?;
        output.line(format!("  digest   {} (of all addresses and digests)", self.set))?;
        for script in &self.scripts {
            output.line(format!("  could run script {}", clean(script)))?;
        }
        if !self.tools.is_empty() {
            output.line(format!("  its tool list counts: {}", clean(&self.tools.join(", "))))?;
        }
        output.line("  commands in its text, if it has any, run when it is activated, contained")?;
        output.section(counted(self.files.len(), "file", "files"))?;
        for file in &self.files {
            output.line(format!("  {:>9}  {}  {}", file.size, file.digest, clean(&file.path)))?;
        }
        Ok(())
    }
}

/// How an approval is told.
pub(crate) fn word(approval: Approval) -> &'static str {
    match approval {
        Approval::Approved => "approved",
        Approval::Changed => "changed since it was approved",
        Approval::NotYet => "not approved",
    }
}
