//! `trust`: what the user allows a project to do.

mod remote;

pub(super) use self::remote::word as approval_word;

use super::asked::Asked;
use crate::args::Trust;
use crate::exit::Exit;
use crate::output::{Form, Output, Tone, clean, tinted};
use crate::servers::server_of;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_catalog::{
    Capabilities, Include, Layout, Ownership, Preview, RootChoice, Snapshot, Standing, TrustStore, changes,
};
use metier_diagnostic::{Paint, counted};
use metier_files::{Kind, kind, real_path};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn run(args: &Trust, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let data = &surroundings.places.data;
    // A folder goes first: nobody's project becomes a server by its name.
    if let Some(name) = args.project.as_deref().and_then(Path::to_str)
        && server_of(name).is_some()
        && kind(&surroundings.places.current.join(name)) == Kind::Missing
    {
        return remote::run(name, &args.action, surroundings, output);
    }
    if args.action.list {
        return list(&TrustStore::open(data)?, output);
    }
    if args.action.revoke {
        return revoke(args.project.as_deref(), surroundings, output);
    }
    let snapshot = snapshot_of(args.project.as_deref(), surroundings)?;
    let Some(preview) = Preview::of(&snapshot) else {
        bail!("there is no project here to trust; go to its folder, or name it: `metier trust DIR`");
    };
    if args.action.preview {
        return show_preview(&preview, &snapshot, data, output);
    }
    let ownership = if args.action.mine { Ownership::Mine } else { Ownership::Theirs };
    record(&preview, ownership, data)?;
    match output.form() {
        Form::Json => output.json(&preview)?,
        Form::Text => {
            write_preview(&preview, output)?;
            let whose =
                if args.action.mine { "as your own: changes are not asked about" } else { "as it is now" };
            output.section(format!("trusted {} {whose}", preview.project.display()))?;
            output.comment("take it back with `metier trust --revoke`")?;
        }
    }
    Ok(Exit::Fine)
}

/// Writes down that a project is trusted, as it was looked at.
pub(super) fn record(preview: &Preview, ownership: Ownership, data: &Path) -> Result<()> {
    let when = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Ok(TrustStore::update(data, |store| store.trust(preview, &when, ownership))?)
}

/// The skills of the project in question, by its usual roots: trust is about the project, whatever `--root` says.
pub(super) fn snapshot_of(project: Option<&Path>, surroundings: &Surroundings) -> Result<Snapshot> {
    let mut places = surroundings.places.clone();
    if let Some(project) = project {
        places.current = folder(project, surroundings)?;
    }
    let layout = Layout::new(&places, &RootChoice::Usual);
    Ok(Snapshot::load(Arc::new(layout), Include::Usual))
}

fn folder(project: &Path, surroundings: &Surroundings) -> Result<PathBuf> {
    let path = surroundings.places.current.join(project);
    if kind(&path) != Kind::Folder {
        bail!("`{}` is not a folder", project.display());
    }
    real_path(&path).with_context(|| format!("`{}` cannot be found", project.display()))
}

fn revoke(project: Option<&Path>, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    // A project that is gone can still be forgotten, by the path it had.
    let named = project
        .map(|path| folder(path, surroundings).unwrap_or_else(|_| surroundings.places.current.join(path)));
    let of_folder = snapshot_of(project.filter(|path| folder(path, surroundings).is_ok()), surroundings)?;
    let project = of_folder.layout().project.as_ref().map(|project| project.folder.clone());
    let Some(project) =
        project.filter(|_| named.as_deref().is_none_or(|path| kind(path) == Kind::Folder)).or(named)
    else {
        bail!("there is no project here; name it: `metier trust --revoke DIR`");
    };
    let was_trusted = TrustStore::update(&surroundings.places.data, |store| Ok(store.revoke(&project)))?;
    match output.form() {
        Form::Json => output.json(&serde_json::json!({"project": project, "revoked": was_trusted}))?,
        Form::Text if was_trusted => output.line(format!("{} is not trusted any more", project.display()))?,
        Form::Text => output.line(format!("{} was not trusted", project.display()))?,
    }
    Ok(Exit::Fine)
}

fn list(store: &TrustStore, output: &mut Output) -> Result<Exit> {
    match output.form() {
        Form::Json => output.json(&store.projects())?,
        Form::Text => {
            for project in store.projects() {
                let mine = if project.mine { ", yours" } else { "" };
                output.line(format!("{} (since {}{mine})", project.path.display(), project.trusted))?;
            }
            for skill in store.approvals() {
                output.line(format!(
                    "{} of the MCP server {} (approved {})",
                    clean(&skill.uri),
                    clean(&skill.server),
                    skill.approved
                ))?;
            }
            if store.projects().is_empty() {
                output.comment("no project is trusted; `metier trust` trusts the one you stand in")?;
            }
        }
    }
    Ok(Exit::Fine)
}

#[derive(Serialize)]
struct Previewed<'a> {
    standing: Standing,
    #[serde(flatten)]
    preview: &'a Preview,
    changes: Vec<metier_catalog::TrustChange>,
}

fn show_preview(preview: &Preview, snapshot: &Snapshot, data: &Path, output: &mut Output) -> Result<Exit> {
    let store = TrustStore::open(data)?;
    let standing = store.standing(&preview.project);
    let changes = changes(snapshot, &store);
    match output.form() {
        Form::Json => output.json(&Previewed { standing, preview, changes })?,
        Form::Text => {
            write_preview(preview, output)?;
            for change in &changes {
                let text = format!(
                    "changed since you trusted it: {}: {}",
                    change.subject,
                    change.changes.join("; ")
                );
                let text = output.tinted(Tone::Caution, &text);
                output.line(text)?;
            }
            let state = match standing {
                Standing::Untrusted => "not trusted; `metier trust` trusts it",
                Standing::Trusted => "trusted",
                Standing::Mine => "trusted as your own",
            };
            output.section(format!("{} is {state}", preview.project.display()))?;
        }
    }
    Ok(Exit::Fine)
}

pub(super) fn write_preview(preview: &Preview, output: &mut Output) -> Result<()> {
    for line in preview_lines(preview, output.paint()) {
        match line.strip_prefix('\n') {
            Some(line) => output.section(line)?,
            None => output.line(line)?,
        }
    }
    Ok(())
}

/// What trust in a project would switch on, a line each.
pub(super) fn preview_lines(preview: &Preview, paint: Paint) -> Vec<String> {
    let number = counted(preview.skills.len(), "skill", "skills");
    let mut lines = vec![format!("{number} in {}", preview.project.display())];
    let (able, plain): (Vec<_>, Vec<_>) =
        preview.skills.iter().partition(|skill| !skill.capabilities.is_empty());
    for skill in able {
        let name = tinted(paint, Tone::Strong, &skill.name);
        lines.push(format!("\n{name} {}", clean(&skill.path)));
        lines.extend(in_words(&skill.capabilities).iter().map(|line| format!("  {}", clean(line))));
        let asked = Asked::of_kept(&skill.capabilities.needs).in_words();
        lines.extend(asked.iter().map(|line| format!("  asks {}", clean(line))));
    }
    if !plain.is_empty() {
        let names: Vec<String> = plain.iter().map(|skill| clean(&skill.name)).collect();
        lines.push(format!("\ninstructions only: {}", names.join(", ")));
    }
    for file in &preview.files {
        lines.push(format!("\n{}", tinted(paint, Tone::Strong, &file.path)));
        let acts = file.acts.iter().map(|act| format!("  {} {}", clean(&act.what), clean(&act.detail)));
        lines.extend(acts.map(|line| line.trim_end().to_owned()));
    }
    lines
}

/// What a skill could run, a line each. What it asks for beyond that is [`Asked`].
pub(super) fn in_words(capabilities: &Capabilities) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, script) in &capabilities.scripts {
        lines.push(format!("script {path}{}", if script.executable { " (executable)" } else { "" }));
    }
    lines.extend(capabilities.commands.iter().map(|command| format!("runs before it is read: {command}")));
    lines.extend(capabilities.hooks.iter().map(|hooks| format!("hooks {hooks}")));
    for (key, list) in [("allowed-tools", &capabilities.allowed_tools), ("tools", &capabilities.tools)] {
        lines.extend(list.iter().map(|list| {
            format!("{key} {}", if list.is_empty() { "none".to_owned() } else { list.join(", ") })
        }));
    }
    lines
}
