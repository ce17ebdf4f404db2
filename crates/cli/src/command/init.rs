//! `init`: a project's first minute. What is found from here, which model would be asked, what trust would switch on.

mod hosts;

use super::root_finding::RootFinding;
use super::trust;
use super::trust_question::{self, TrustAnswer};
use crate::args::{Host, Init};
use crate::model_choice::{MODEL_FLAG, Settled, Wish};
use crate::output::{Output, Tone};
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_catalog::{Include, Ownership, Preview, RootTrust, Standing};
use metier_files::{Mode, write_new};
use serde::Serialize;
use std::io;
use std::path::PathBuf;

/// The new file. All of it is comments, so that writing it changes nothing.
const TEMPLATE: &str = include_str!("init/metier.toml");

#[derive(Serialize)]
struct Found {
    project: PathBuf,
    file: PathBuf,
    /// Whether it was written just now.
    written: bool,
    standing: Standing,
    roots: Vec<RootFinding>,
    loaded: usize,
    failed: usize,
    model: Model,
    /// Other agents that seem to be here, by the names that `mcp --print-config` takes.
    hosts: Vec<String>,
    /// The command to try next.
    next: String,
}

/// Which model would be asked.
#[derive(Serialize)]
struct Model {
    /// Its name, or null where none would be.
    name: Option<String>,
    state: ModelState,
    /// Why this one, or why none.
    why: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum ModelState {
    /// It would be asked.
    Chosen,
    /// There is none, and work goes on without.
    Offline,
    /// One is named that cannot be had, so nothing would run.
    Unavailable,
}

pub(crate) fn run(args: &Init, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let Some(project) = &surroundings.layout.project else {
        bail!("this folder is too wide to be a project; go to the folder you work in, then `metier init`");
    };
    let file = project.config_file();
    let written = match write_new(&file, TEMPLATE.as_bytes(), Mode::Shared) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be written", surroundings.shown(&file)));
        }
    };
    let snapshot = surroundings.snapshot(Include::Usual);
    let mut found = Found {
        project: project.folder.clone(),
        file,
        written,
        standing: surroundings.layout.standing,
        roots: RootFinding::all(&snapshot).into_iter().filter(|root| root.exists).collect(),
        loaded: snapshot.loaded(),
        failed: snapshot.failures().len(),
        model: model(args, surroundings),
        hosts: hosts::found(&surroundings.places, &project.folder).map(Host::name).collect(),
        next: String::new(),
    };
    found.next = next(&found).to_owned();
    if output.is_json() {
        return output.json(&found);
    }
    write(&found, surroundings, output)?;
    if found.standing == Standing::Untrusted {
        found.standing = ask_for_trust(surroundings, output)?;
    }
    output.section(format!("next: {}", next(&found)))
}

/// That a model cannot be had is something to be told here, and no reason to leave the rest undone.
fn model(args: &Init, surroundings: &Surroundings) -> Model {
    match Wish::new(args.model.model.as_deref(), MODEL_FLAG, surroundings).settle() {
        Ok(Settled::Model(chosen)) => {
            let id = chosen.model.id().to_string();
            Model { name: Some(id), state: ModelState::Chosen, why: chosen.how }
        }
        Ok(Settled::Offline { why }) => Model { name: None, state: ModelState::Offline, why },
        Err(error) => Model { name: None, state: ModelState::Unavailable, why: format!("{error:#}") },
    }
}

fn next(found: &Found) -> &'static str {
    match (found.loaded, found.standing) {
        (0, _) => "metier new my-skill",
        (_, Standing::Untrusted)
            if found.roots.iter().any(|root| root.trust == RootTrust::Untrusted && root.skills > 0) =>
        {
            "metier trust --preview"
        }
        _ => "metier run \"what is on my list\"",
    }
}

fn write(found: &Found, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let file = surroundings.shown(&found.file);
    if found.written {
        output.line(format!("wrote {file}; all of it is comments, so nothing has changed yet"))?;
    } else {
        output.line(format!("{file} is there already, and is left as it is"))?;
    }
    output.section(format!("loaded {}, failed {}", found.loaded, found.failed))?;
    for root in &found.roots {
        root.write(surroundings, output)?;
    }
    let name = match (&found.model.name, found.model.state) {
        (Some(model), _) => output.tinted(Tone::Good, model),
        (None, ModelState::Unavailable) => output.tinted(Tone::Bad, "cannot be asked"),
        (None, _) => output.tinted(Tone::Caution, "none"),
    };
    output.section(format!("model  {name}"))?;
    output.comment(format!("  {}", found.model.why))?;
    if found.model.state == ModelState::Offline {
        output.comment("  without one, metier runs the skill that fits best where that is clear; docs/models.md says more")?;
    }
    if !found.hosts.is_empty() {
        output.section(
            "other agents here get the same skills over MCP; what to write into their configuration:",
        )?;
        for host in &found.hosts {
            output.line(format!("  metier mcp --print-config {host}"))?;
        }
    }
    Ok(())
}

/// Shows what trust would switch on, and asks where somebody can answer.
fn ask_for_trust(surroundings: &Surroundings, output: &mut Output) -> Result<Standing> {
    let layout = trust::layout_of(None, surroundings)?;
    let Some(preview) = Preview::of(&layout) else {
        return Ok(Standing::Untrusted);
    };
    output.section("trust would switch this on:")?;
    trust::write_preview(&preview, output)?;
    if !crate::keyboard::can_ask() {
        output.section("this project is not trusted; `metier trust` trusts it")?;
        return Ok(Standing::Untrusted);
    }
    output.flush()?;
    let choices = "[y]es, as it is now  [m]ine: I write it, changes are not asked about  [n]o";
    let TrustAnswer::Trust(ownership) = trust_question::answer(vec!["trust it?".to_owned()], choices)? else {
        output.line("not trusted; `metier trust` does it later")?;
        return Ok(Standing::Untrusted);
    };
    trust::record(&preview, ownership, &surroundings.places.data)?;
    output.line("trusted; `metier trust --revoke` takes it back")?;
    Ok(match ownership {
        Ownership::Theirs => Standing::Trusted,
        Ownership::Mine => Standing::Mine,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_catalog::Config;
    use std::path::Path;
    use std::sync::Arc;

    /// The example of every setting must be one that metier takes, or the file teaches mistakes.
    #[test]
    fn the_new_file_changes_nothing_and_its_examples_are_taken() {
        let path: Arc<Path> = Path::new("metier.toml").into();
        let (config, found) = Config::read(TEMPLATE, &path);
        assert_eq!((config, found), (Config::default(), Vec::new()));
        let is_prose = |line: &&str| line.ends_with(['.', ':']) || line.contains(": `");
        let uncommented: Vec<&str> = TEMPLATE
            .lines()
            .filter_map(|line| line.strip_prefix("# "))
            .filter(|line| line.starts_with('[') || line.split_once(" = ").is_some())
            .filter(|line| !is_prose(line))
            .collect();
        let (config, found) = Config::read(&uncommented.join("\n"), &path);
        assert_eq!(found, []);
        assert_eq!(config.model.as_deref(), Some("fast"));
        assert_eq!((config.models.len(), config.roots.len(), config.env.len()), (1, 1, 1));
        assert_eq!(config.limits.turns.map(std::num::NonZeroU32::get), Some(50));
        assert_eq!((config.gate.allow.len(), config.gate.ask.len(), config.gate.deny.len()), (1, 1, 1));
    }
}
