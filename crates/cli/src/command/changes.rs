//! `changes`: what commands changed in the project, and what becomes of it.

mod difference;
mod ignored;
mod protected;
mod text;

use crate::args::{Changes, ChangesAction, ChangesApply, ChangesDiscard, ChangesShow, ChangesUndo};
use crate::exit::Exit;
use crate::keyboard;
use crate::output::{Form, Output};
use crate::question;
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_changes::{
    ApplyError, ChangeSet, DEFAULT_RETENTION, LayerPath, LayerRecord, LayerState, LayerStore, Recovered,
    apply, undo,
};
use metier_diagnostic::counted;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) fn run(args: &Changes, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let store = surroundings.layers();
    match &args.action {
        None => list(args.all, &store, surroundings, output),
        Some(ChangesAction::Show(args)) => show(args, &store, surroundings, output),
        Some(ChangesAction::Apply(args)) => apply_set(args, &store, surroundings, output),
        Some(ChangesAction::Discard(args)) => discard(args, &store, surroundings, output),
        Some(ChangesAction::Undo(args)) => undo_set(args, &store, surroundings, output),
    }
}

/// Finishes what an interrupted command was applying, and says so. Every command begins with it.
pub(crate) fn recover(surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let Some(project) = surroundings.project() else { return Ok(()) };
    let store = surroundings.layers();
    for Recovered { id, state, problem } in store.recover(project)? {
        let text = match (state, problem) {
            (LayerState::Applied, _) => {
                format!("finished applying the changes `{id}`, which was interrupted")
            }
            (LayerState::Undone, _) => format!("finished undoing the changes `{id}`, which was interrupted"),
            (LayerState::TakenBack, Some(problem)) => {
                format!(
                    "the changes `{id}` were being applied when metier was stopped; they were taken back: {problem}"
                )
            }
            (LayerState::Pending, _) => {
                format!("an interrupted command left changes; look at them: `metier changes show {id}`")
            }
            _ => continue,
        };
        output.aside(&text)?;
    }
    Ok(())
}

fn list(all: bool, store: &LayerStore, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    // What was decided long ago goes when someone looks; pending sets stay.
    store.prune(&DEFAULT_RETENTION)?;
    let project = surroundings.project();
    let mut sets = store.list(if all { None } else { project });
    sets.reverse();
    let sessions = store.sessions(if all { None } else { project });
    if output.form() == Form::Json {
        output.json(&json!({ "project": project, "changes": sets, "sessions": sessions }))?;
        return Ok(Exit::Fine);
    }
    if sets.is_empty() && sessions.is_empty() {
        output.line("no changes are waiting here, and none were made lately")?;
        return Ok(Exit::Fine);
    }
    for line in text::table(&sets, all) {
        output.line(line)?;
    }
    if sets.iter().any(|set| set.state == LayerState::Pending) {
        output.comment("`metier changes show ID` lists the paths, `metier changes apply ID` applies them")?;
    }
    ignored::list(&sessions, output)?;
    Ok(Exit::Fine)
}

/// The set that an id means.
fn find(id: &str, store: &LayerStore, surroundings: &Surroundings) -> Result<LayerRecord> {
    let here = store.list(surroundings.project());
    if id == "last" {
        let last = here.into_iter().rev().find(|set| set.state != LayerState::Running);
        return last.context("no changes are waiting here, and none were made lately");
    }
    let mut fitting: Vec<LayerRecord> =
        store.list(None).into_iter().filter(|set| set.id.starts_with(id)).collect();
    match (fitting.pop(), fitting.is_empty()) {
        (Some(set), true) => Ok(set),
        (Some(_), false) => bail!("several sets of changes begin with `{id}`; write more of the id"),
        (None, _) => bail!("no set of changes is called `{id}`; `metier changes --all` lists them"),
    }
}

fn show(
    args: &ChangesShow,
    store: &LayerStore,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    let set = find(&args.id, store, surroundings)?;
    let layer = store.open(&set.id)?;
    let changes = layer.changes()?;
    let selected = selected(&changes, &args.paths)?;
    let shown = || changes.entries.iter().filter(|change| selected.contains(&change.path));
    let protected = protected::paths(&set.project, &changes)?;
    if output.form() == Form::Json {
        let waiting = layer.pending()?;
        let listed = changes.listed();
        let pairs = changes.entries.iter().zip(&listed).filter(|(change, _)| selected.contains(&change.path));
        let entries: Vec<_> = pairs
            .map(|pair| difference::json(&layer, pair, &waiting, &protected, args.diff))
            .collect::<Result<_>>()?;
        output.json(&json!({ "set": set, "entries": entries, "refused": changes.refused }))?;
        return Ok(Exit::Fine);
    }
    output.line(text::head(&set))?;
    for line in text::paths(&changes, &selected, &protected, text::Detail::All) {
        output.line(line)?;
    }
    if args.diff {
        for change in shown() {
            difference::write(&layer, change, output)?;
        }
    }
    Ok(Exit::Fine)
}

fn apply_set(
    args: &ChangesApply,
    store: &LayerStore,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    if args.ignored {
        return ignored::apply_session(args, store, surroundings, output);
    }
    let set = find(&args.id, store, surroundings)?;
    let layer = store.open(&set.id)?;
    let changes = layer.pending()?;
    let selected = selected(&changes, &args.paths)?;
    if selected.is_empty() {
        output.line(format!("nothing of `{}` waits to be applied", set.id))?;
        return Ok(Exit::Fine);
    }
    let protected = &protected::paths(&set.project, &changes)? & &selected;
    if args.yes {
        let unnamed = protected::unnamed(&protected, &changes, args)?;
        if !unnamed.is_empty() {
            protected::refuse(&unnamed, &protected, args, output)?;
            return Ok(Exit::NeedsYes);
        }
    } else {
        let mut lines = vec![text::head(&set)];
        lines.extend(text::paths(&changes, &selected, &protected, text::Detail::Folded));
        let asked =
            format!("Apply {} to {}?", counted(selected.len(), "change", "changes"), set.project.display());
        if !is_approved(lines, asked, output)? {
            return Ok(Exit::NeedsYes);
        }
    }
    match apply(&layer, &changes, &selected) {
        Ok(applied) => {
            let count = selected.len().saturating_sub(applied.left_out.len());
            tell(&set.id, &set.project, &format!("applied {}", counted(count, "change", "changes")), output)?;
            for path in &applied.left_out {
                output.aside(&format!("not applied: {path}, since something in it stays"))?;
            }
            Ok(Exit::Fine)
        }
        Err(error) => refused(&error),
    }
}

/// Shows what would be applied and asks, where a person can be asked.
fn is_approved(mut lines: Vec<String>, asked: String, output: &mut Output) -> Result<bool> {
    if !keyboard::can_ask() {
        lines.into_iter().try_for_each(|line| output.line(line))?;
        output.aside("nothing was applied: pass `--yes`, or run it at a terminal to be asked")?;
        return Ok(false);
    }
    output.flush()?;
    lines.push(asked);
    let is_yes = question::is_yes(lines)?;
    if !is_yes {
        output.aside("nothing was applied")?;
    }
    Ok(is_yes)
}

fn undo_set(
    args: &ChangesUndo,
    store: &LayerStore,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    let set = if args.id == "last" {
        let sets = store.list(surroundings.project()).into_iter().rev();
        let mut applied = sets.filter(|set| set.applied > 0);
        applied.next().context("nothing was applied here that could be undone")?
    } else {
        find(&args.id, store, surroundings)?
    };
    let layer = store.open(&set.id)?;
    match undo(&layer) {
        Ok(true) => {
            let what = format!("undid {}", counted(set.applied, "change", "changes"));
            tell(&set.id, &set.project, &what, output)?;
            Ok(Exit::Fine)
        }
        Ok(false) => bail!("nothing of `{}` was applied, so there is nothing to undo", set.id),
        Err(error) => refused(&error),
    }
}

fn discard(
    args: &ChangesDiscard,
    store: &LayerStore,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<Exit> {
    let mut ids = Vec::new();
    for id in &args.ids {
        // Only the layers of sessions begin like this; other ids are numbers.
        if !id.starts_with("session-") || !ignored::discard_session(id, store, output)? {
            ids.push(id);
        }
    }
    let sets = if args.pending {
        let here = store.list(surroundings.project()).into_iter();
        here.filter(|set| matches!(set.state, LayerState::Pending | LayerState::TakenBack)).collect()
    } else {
        ids.iter().map(|id| find(id, store, surroundings)).collect::<Result<Vec<_>>>()?
    };
    for set in &sets {
        store.open(&set.id)?.discard()?;
        tell(&set.id, &set.project, "discarded; kept for a week", output)?;
    }
    if sets.is_empty() && args.pending {
        output.line("no changes are waiting here")?;
    }
    Ok(Exit::Fine)
}

/// The paths that are meant: all, or the named ones with what is below them.
fn selected(changes: &ChangeSet, paths: &[String]) -> Result<BTreeSet<LayerPath>> {
    let all = || changes.entries.iter().map(|change| change.path.clone());
    if paths.is_empty() {
        return Ok(all().collect());
    }
    let mut selected = BTreeSet::new();
    for path in paths {
        let folder = path_in_project(path)?;
        let before = selected.len();
        selected.extend(all().filter(|changed| changed.is_below(&folder)));
        if selected.len() == before {
            bail!("`{path}` is not among the changes; `metier changes show` lists them");
        }
    }
    // A new file needs the new folders above it.
    let above = |path: &LayerPath| changes.entries.iter().any(|change| change.path == *path);
    let mut parents: BTreeSet<LayerPath> = selected.iter().filter_map(LayerPath::parent).collect();
    while let Some(parent) = parents.pop_first() {
        parents.extend(parent.parent());
        if above(&parent) {
            selected.insert(parent);
        }
    }
    Ok(selected)
}

/// A path as the user wrote it.
fn path_in_project(text: &str) -> Result<LayerPath> {
    let path = Path::new(text.trim_end_matches('/')).components().collect();
    LayerPath::new(path).with_context(|| format!("`{text}` is not a path inside the project"))
}

fn tell(id: &str, project: &Path, what: &str, output: &mut Output) -> Result<()> {
    match output.form() {
        Form::Json => output.json(&json!({ "id": id, "project": project, "result": what }))?,
        Form::Text => output.line(format!("{id}: {what}"))?,
    }
    Ok(())
}

fn refused(error: &ApplyError) -> Result<Exit> {
    match error {
        ApplyError::Conflicts(_) => {
            bail!(
                "{error}; nothing was changed. Look at these files, then apply single paths or discard the set"
            )
        }
        error => bail!("{error}"),
    }
}
