//! `trust`: what the user allows a project to do.

mod remote;

pub(super) use self::remote::{listed_files, word as approval_word};

use super::asked;
use crate::args::Trust;
use crate::environment;
use crate::output::{Output, Tone, clean, tinted};
use crate::servers::server_of;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_catalog::{
    Capabilities, Detail, Include, Layout, Ownership, Preview, RootChoice, SkillPreview, Snapshot, Standing,
    TrustDiff, TrustItem, TrustStore,
};
use metier_diagnostic::{Paint, counted};
use metier_files::{Kind, kind, real_path};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn run(args: &Trust, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
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
    let layout = layout_of(args.project.as_deref(), surroundings)?;
    let Some(preview) = Preview::of(&layout) else {
        bail!("there is no project here to trust; go to its folder, or name it: `metier trust DIR`");
    };
    if args.action.preview {
        return show_preview(&preview, layout, output);
    }
    if args.action.diff {
        return show_diff(&preview, &layout, output);
    }
    let ownership = if args.action.mine { Ownership::Mine } else { Ownership::Theirs };
    record(&preview, ownership, data)?;
    if output.is_json() {
        return output.json(&preview);
    }
    write_preview(&preview, output)?;
    let whose = if args.action.mine { "as your own: changes are not asked about" } else { "as it is now" };
    output.section(format!("trusted {} {whose}", preview.project.display()))?;
    output.comment("take it back with `metier trust --revoke`")
}

/// Writes down that a project is trusted, as it was looked at.
pub(super) fn record(preview: &Preview, ownership: Ownership, data: &Path) -> Result<()> {
    let when = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Ok(TrustStore::update(data, |store| store.trust(preview, &when, ownership))?)
}

/// The project in question with its usual roots: trust is about the project, whatever `--root` says.
pub(super) fn layout_of(project: Option<&Path>, surroundings: &Surroundings) -> Result<Arc<Layout>> {
    let folder = match project {
        None if surroundings.is_usual => return Ok(Arc::clone(&surroundings.layout)),
        None => surroundings.places.current.clone(),
        Some(project) => folder(project, surroundings)?,
    };
    Ok(Arc::new(surroundings.layout.seen_from(&folder, &RootChoice::Usual)))
}

fn folder(project: &Path, surroundings: &Surroundings) -> Result<PathBuf> {
    let path = surroundings.places.current.join(project);
    if kind(&path) != Kind::Folder {
        bail!("`{}` is not a folder", project.display());
    }
    real_path(&path).with_context(|| format!("`{}` cannot be found", project.display()))
}

fn revoke(project: Option<&Path>, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    // A project that is gone can still be forgotten, by the path it had.
    let named = project
        .map(|path| folder(path, surroundings).unwrap_or_else(|_| surroundings.places.current.join(path)));
    let of_folder = layout_of(project.filter(|path| folder(path, surroundings).is_ok()), surroundings)?;
    let project = of_folder.project.as_ref().map(|project| project.folder.clone());
    let Some(project) =
        project.filter(|_| named.as_deref().is_none_or(|path| kind(path) == Kind::Folder)).or(named)
    else {
        bail!("there is no project here; name it: `metier trust --revoke DIR`");
    };
    let was_trusted = TrustStore::update(&surroundings.places.data, |store| Ok(store.revoke(&project)))?;
    if output.is_json() {
        return output.json(&serde_json::json!({"project": project, "revoked": was_trusted}));
    }
    let what = if was_trusted { "is not trusted any more" } else { "was not trusted" };
    output.line(format!("{} {what}", project.display()))
}

fn list(store: &TrustStore, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.json(&store.projects());
    }
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
    Ok(())
}

#[derive(Serialize)]
struct Previewed<'a> {
    standing: Standing,
    #[serde(flatten)]
    preview: &'a Preview,
    changes: Vec<metier_catalog::TrustChange>,
    /// The variables of all this that hold a value here.
    variables_set: BTreeSet<&'a str>,
}

fn show_preview(preview: &Preview, layout: Arc<Layout>, output: &mut Output) -> Result<()> {
    let standing = layout.standing;
    let changes = Snapshot::load(layout, Include::Usual).trust_changes();
    if output.is_json() {
        let variables_set = variables_set(preview.items());
        output.json(&Previewed { standing, preview, changes, variables_set })?;
        return Ok(());
    }
    write_preview(preview, output)?;
    for change in &changes {
        let text = format!("changed since you trusted it: {}: {}", change.subject, change.changes.join("; "));
        output.line(output.tinted(Tone::Caution, &text))?;
    }
    output.section(format!("{} is {}", preview.project.display(), in_words(standing)))?;
    Ok(())
}

#[derive(Serialize)]
struct Compared<'a> {
    project: &'a Path,
    standing: Standing,
    #[serde(flatten)]
    diff: &'a TrustDiff,
    /// The variables of all this that hold a value here.
    variables_set: BTreeSet<&'a str>,
}

/// Shows what is added, changed and gone since the project was trusted.
fn show_diff(preview: &Preview, layout: &Layout, output: &mut Output) -> Result<()> {
    let standing = layout.standing;
    let diff = TrustDiff::of(preview, &layout.trust);
    if output.is_json() {
        let variables_set = variables_set(diff.pending());
        output.json(&Compared { project: &preview.project, standing, diff: &diff, variables_set })?;
        return Ok(());
    }
    for line in diff_lines(&diff, output.paint()) {
        write_line(&line, output)?;
    }
    let project = preview.project.display();
    match standing {
        Standing::Trusted if diff.is_settled() => {
            output.line(format!("nothing in {project} waits for your trust"))?;
        }
        Standing::Trusted => {
            output.section(format!(
                "what is added or changed in {project} is not used; `metier trust` trusts it"
            ))?;
        }
        _ => output.section(format!("{project} is {}", in_words(standing)))?,
    }
    Ok(())
}

fn in_words(standing: Standing) -> &'static str {
    match standing {
        Standing::Untrusted => "not trusted; `metier trust` trusts it",
        Standing::Trusted => "trusted",
        Standing::Mine => "trusted as your own",
    }
}

pub(super) fn write_preview(preview: &Preview, output: &mut Output) -> Result<()> {
    preview_lines(preview, output.paint()).iter().try_for_each(|line| write_line(line, output))
}

/// A line that begins with a line break gets an empty line above it.
fn write_line(line: &str, output: &mut Output) -> Result<()> {
    match line.strip_prefix('\n') {
        Some(line) => output.section(line)?,
        None => output.line(line)?,
    }
    Ok(())
}

/// What is added, changed and gone since a project was trusted, a thing each.
pub(super) fn diff_lines(diff: &TrustDiff, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    if diff.older_record {
        lines.push("trusted with an older metier, which could not record all of this".to_owned());
    }
    for (word, items) in [("added", &diff.added), ("changed", &diff.changed)] {
        for item in items {
            let place = clean(&item.entry.name.place);
            lines.push(format!("{word:<8} {} ({place})", tinted(paint, Tone::Strong, &item.what)));
            lines.extend(item.details.iter().map(|detail| format!("           {}", with_values(detail))));
        }
    }
    for entry in &diff.removed {
        let (kind, name, place) = (entry.kind.word(), clean(&entry.name.name), clean(&entry.name.place));
        lines.push(format!("removed  {kind} `{name}` ({place})"));
    }
    lines
}

/// What trust in a project would switch on, a line each. No line is cut.
pub(super) fn preview_lines(preview: &Preview, paint: Paint) -> Vec<String> {
    let number = counted(preview.skills.len(), "skill", "skills");
    let mut lines = vec![format!("{number} in {}", preview.project.display())];
    let is_plain = |skill: &&SkillPreview| {
        skill.capabilities.is_empty() && skill.acts.first().is_none_or(|own| own.details.is_empty())
    };
    let (plain, able): (Vec<_>, Vec<_>) = preview.skills.iter().partition(is_plain);
    for skill in able {
        let name = tinted(paint, Tone::Strong, &skill.name);
        lines.push(format!("\n{name} {}", clean(&skill.path)));
        let own = skill.acts.first().map(|own| own.details.as_slice()).unwrap_or_default();
        lines.extend(own.iter().map(|detail| format!("  {}", detail.text)));
        lines.extend(capability_lines(&skill.capabilities).iter().map(|line| format!("  {}", clean(line))));
        let asked = asked::kept_in_words(&skill.capabilities.needs);
        lines.extend(asked.iter().map(|line| format!("  asks {}", clean(line))));
    }
    if !plain.is_empty() {
        let names: Vec<String> = plain.iter().map(|skill| clean(&skill.name)).collect();
        lines.push(format!("\ninstructions only: {}", names.join(", ")));
    }
    for file in &preview.files {
        lines.push(format!("\n{}", tinted(paint, Tone::Strong, &file.path)));
        lines.extend(file.acts.iter().flat_map(item_lines));
    }
    if !preview.links.is_empty() {
        lines.push(String::new());
        lines.extend(preview.links.iter().flat_map(item_lines));
    }
    lines
}

/// A thing in one line where one is enough, else with a line for each detail.
fn item_lines(item: &TrustItem) -> Vec<String> {
    match item.details.as_slice() {
        [] => vec![format!("  {}", item.what)],
        [detail] => vec![format!("  {} {}", item.what, with_values(detail))],
        details => {
            let details = details.iter().map(|detail| format!("    {}", with_values(detail)));
            [format!("  {}", item.what)].into_iter().chain(details).collect()
        }
    }
}

/// The variables of these things that hold a value here.
fn variables_set<'a>(items: impl Iterator<Item = &'a TrustItem>) -> BTreeSet<&'a str> {
    let details = items.flat_map(|item| &item.details);
    let names = details.flat_map(|detail| &detail.variables).map(String::as_str);
    names.filter(|name| environment::variable(name).is_some()).collect()
}

/// A detail with a word for each of its variables that has a value here: that value would be used.
fn with_values(detail: &Detail) -> String {
    let set: Vec<String> = detail
        .variables
        .iter()
        .filter(|name| environment::variable(name).is_some())
        .map(|name| format!("{} is set here", clean(name)))
        .collect();
    if set.is_empty() { detail.text.clone() } else { format!("{} ({})", detail.text, set.join(", ")) }
}

/// What a skill could run, a line each. What it asks for beyond that is in [`asked`].
pub(super) fn capability_lines(capabilities: &Capabilities) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, script) in &capabilities.scripts {
        let executable = if script.executable { " (executable)" } else { "" };
        lines.push(format!("script {path}{executable}"));
    }
    lines.extend(capabilities.commands.iter().map(|command| format!("runs before it is read: {command}")));
    lines.extend(capabilities.shell.iter().map(|shell| format!("with the shell {shell}")));
    lines.extend(capabilities.hooks.iter().map(|hooks| format!("hooks {hooks}")));
    for (key, list) in capabilities.tool_lists() {
        lines.extend(list.iter().map(|list| {
            format!("{key} {}", if list.is_empty() { "none".to_owned() } else { list.join(", ") })
        }));
    }
    lines.extend(capabilities.model.iter().map(|model| format!("asks the model {model}")));
    lines.extend(capabilities.agent.iter().map(|agent| format!("is run by the agent {agent}")));
    lines.extend(capabilities.links.iter().map(|(path, target)| format!("link {path} leads to {target}")));
    lines
}
