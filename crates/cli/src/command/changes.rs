//! `changes`: what commands changed in the project, and what becomes of it.

mod difference;
mod ignored;
mod protected;
mod rules;
mod text;

use crate::args::{Changes, ChangesAction, ChangesApply, ChangesDiscard, ChangesShow, ChangesUndo};
use crate::exit::Exit;
use crate::keyboard;
use crate::output::{Output, clean};
use crate::question;
use crate::surroundings::Surroundings;
use crate::typed_path::{from_current, in_project};
use anyhow::{Context, Result, anyhow, bail};
use metier_changes::{
    ApplyError, ChangeSet, Conflict, DEFAULT_RETENTION, Interrupted, LayerPath, LayerRecord, LayerState,
    LayerStore, Recovered, Undone, apply, undo,
};
use metier_diagnostic::counted;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &Changes, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    match &args.action {
        None => list(args.all, surroundings, output),
        Some(ChangesAction::Show(args)) => show(args, surroundings, output),
        Some(ChangesAction::Apply(args)) => apply_set(args, surroundings, output),
        Some(ChangesAction::Discard(args)) => discard(args, surroundings, output),
        Some(ChangesAction::Undo(args)) => undo_set(args, surroundings, output),
    }
}

/// Finishes what an interrupted command was applying, and says so. Every command begins with it.
pub(crate) fn recover(surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let Some(project) = surroundings.project() else { return Ok(()) };
    let store = surroundings.layers();
    for Recovered { id, interrupted, state, problem } in store.recover(project)? {
        let text = match (interrupted, problem) {
            (_, Some(problem)) if state == LayerState::Applying => {
                format!("the changes `{id}` are in the project in part: {problem}")
            }
            (Interrupted::Apply, None) => {
                format!("finished applying the changes `{id}`, which was interrupted")
            }
            (Interrupted::Apply, Some(problem)) => format!(
                "the changes `{id}` were being applied when metier was stopped; they were taken back: {problem}"
            ),
            (Interrupted::Undo, None) => {
                format!("finished undoing the changes `{id}`, which was interrupted")
            }
            (Interrupted::Undo, Some(problem)) => format!(
                "the changes `{id}` were being undone when metier was stopped; they stay applied: {problem}"
            ),
            (Interrupted::Call, _) if state == LayerState::Pending => {
                format!("an interrupted command left changes; look at them: `metier changes show {id}`")
            }
            (Interrupted::Call, _) => continue,
        };
        output.aside(&text)?;
    }
    Ok(())
}

fn list(all: bool, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let store = surroundings.layers();
    // What was decided long ago goes when someone looks; pending sets stay.
    store.prune(&DEFAULT_RETENTION)?;
    let project = surroundings.project();
    let mut sets = store.list(if all { None } else { project });
    sets.reverse();
    let sessions = store.sessions(if all { None } else { project });
    if output.is_json() {
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
fn find(id: &str, surroundings: &Surroundings) -> Result<LayerRecord> {
    let store = surroundings.layers();
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

fn show(args: &ChangesShow, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let store = surroundings.layers();
    let set = find(&args.id, surroundings)?;
    let layer = store.open(&set.id)?;
    let changes = layer.changes()?;
    let selected = selected(&changes, &args.paths, &set.project, surroundings)?;
    let shown = || changes.entries.iter().filter(|change| selected.contains(&change.path));
    let protected = protected::paths(&layer, &changes, surroundings)?;
    if output.is_json() {
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

fn apply_set(args: &ChangesApply, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let store = surroundings.layers();
    if args.ignored {
        return ignored::apply_session(args, surroundings, output);
    }
    let set = find(&args.id, surroundings)?;
    let layer = store.open(&set.id)?;
    let changes = layer.pending()?;
    let selected = selected(&changes, &args.paths, &set.project, surroundings)?;
    if selected.is_empty() {
        output.line(format!("nothing of `{}` waits to be applied", set.id))?;
        return Ok(Exit::Fine);
    }
    check_renames(&changes, &selected)?;
    rules::check(&set, &selected, surroundings)?;
    let protected = &protected::paths(&layer, &changes, surroundings)? & &selected;
    if args.yes {
        let unnamed = protected::unnamed(&protected, &changes, args, &set.project, surroundings)?;
        if !unnamed.is_empty() {
            let typed = |path: &LayerPath| from_current(path, &surroundings.places.current, &set.project);
            protected::refuse(&unnamed, &protected, args, typed, output)?;
            return Ok(Exit::NeedsYes);
        }
    } else {
        let mut lines = vec![text::head(&set)];
        lines.extend(text::paths(&changes, &selected, &protected, text::Detail::Folded));
        let asked =
            format!("Apply {} to {}?", counted(selected.len(), "change", "changes"), set.project.display());
        let meant = changes.entries.iter().filter(|change| selected.contains(&change.path));
        if !is_approved(lines, asked, || difference::lines(&layer, meant), output)? {
            return Ok(Exit::NeedsYes);
        }
    }
    match apply(&layer, &changes, &selected) {
        Ok(applied) => {
            let count = selected.len().saturating_sub(applied.left_out.len());
            let count = counted(count, "change", "changes");
            tell(
                &set.id,
                &set.project,
                &format!("applied {count}{}", elsewhere(&set, surroundings)),
                output,
            )?;
            for change in changes.entries.iter().filter(|change| applied.left_out.contains(&change.path)) {
                output.aside(&clean(&format!("not applied: {} ({})", change.path, change.why_left_out())))?;
            }
            Ok(Exit::Fine)
        }
        Err(error) => Err(refused(&error)),
    }
}

/// Shows what would be applied and asks, where a person can be asked.
fn is_approved(
    mut lines: Vec<String>,
    asked: String,
    diff: impl FnOnce() -> Vec<String>,
    output: &mut Output,
) -> Result<bool> {
    if !keyboard::can_ask() {
        if output.is_json() {
            // Standard output is for JSON alone.
            lines.into_iter().try_for_each(|line| output.aside(&line))?;
            output.json(&json!({ "result": "nothing was applied" }))?;
        } else {
            lines.into_iter().try_for_each(|line| output.line(line))?;
        }
        output.aside("nothing was applied: pass `--yes`, or run it at a terminal to be asked")?;
        return Ok(false);
    }
    output.flush()?;
    lines.push(asked);
    let is_yes = question::is_yes_to_changes(lines, diff())?;
    if !is_yes {
        output.aside("nothing was applied")?;
    }
    Ok(is_yes)
}

fn undo_set(args: &ChangesUndo, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let store = surroundings.layers();
    let set = if args.id == "last" {
        // The one that was applied last, which need not be the one that ran last.
        let sets = store.list(surroundings.project()).into_iter().filter(|set| set.applied > 0);
        let last = sets.max_by_key(|set| set.applied_at);
        let last = last.context("nothing was applied here that could be undone")?;
        if let Some(newer) = not_applied_since(&last, surroundings) {
            let state = newer.state.word();
            output.aside(&clean(&format!(
                "the changes `{}` are newer and not in the project ({state}), so `{}` is undone",
                newer.id, last.id
            )))?;
        }
        last
    } else {
        find(&args.id, surroundings)?
    };
    let layer = store.open(&set.id)?;
    // What was there before comes back, so no deny rule is asked; the mode `plan` changes nothing at all.
    rules::check(&set, &BTreeSet::new(), surroundings)?;
    match undo(&layer) {
        Ok(Some(undone)) => {
            let what = format!("{}{}", undone_text(&undone), elsewhere(&set, surroundings));
            tell(&set.id, &set.project, &what, output)?;
            Ok(Exit::Fine)
        }
        Ok(None) => bail!("nothing of `{}` was applied, so there is nothing to undo", set.id),
        Err(ApplyError::Conflicts(conflicts)) => {
            let advice = undo_advice(&set.id, &later_sets(&conflicts, &set, &store));
            bail!("nothing was undone: {}. {advice}", text::conflicts(&conflicts))
        }
        Err(error) => bail!("nothing was undone: {error}"),
    }
}

/// The latest set, where it was made after another one was applied and is not applied itself: a person may mean that one.
fn not_applied_since(applied: &LayerRecord, surroundings: &Surroundings) -> Option<LayerRecord> {
    let waits = |set: &LayerRecord| {
        matches!(set.state, LayerState::Pending | LayerState::TakenBack | LayerState::Discarded)
    };
    let is_newer = |set: &LayerRecord| set.applied == 0 && set.id > applied.id && waits(set);
    surroundings.layers().list(surroundings.project()).into_iter().rfind(is_newer)
}

/// How many paths of an undo are named.
const MAX_NAMED: usize = 5;

/// `undid 2 changes: a, b`, with what was applied earlier and stays.
fn undone_text(undone: &Undone) -> String {
    let Undone { paths, still_applied } = undone;
    let names: Vec<String> = paths.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    let more = if paths.len() > MAX_NAMED { ", …" } else { "" };
    let mut text = format!("undid {}: {}{more}", counted(paths.len(), "change", "changes"), names.join(", "));
    match still_applied {
        0 => {}
        1 => text.push_str("; 1 path that was applied before stays applied"),
        more => text.push_str(&format!("; {more} paths that were applied before stay applied")),
    }
    clean(&text)
}

/// Sets that were applied later and changed the paths of conflicts, the latest first.
fn later_sets(conflicts: &[Conflict], set: &LayerRecord, store: &LayerStore) -> Vec<String> {
    let is_later =
        |other: &LayerRecord| other.id != set.id && other.applied > 0 && other.applied_at >= set.applied_at;
    let has_path = |other: &LayerRecord| {
        let changes = store.open(&other.id).and_then(|layer| layer.changes());
        let is_its = |path: &LayerPath| {
            conflicts.iter().any(|conflict| path.is_below(&conflict.path) || conflict.path.is_below(path))
        };
        changes.is_ok_and(|changes| changes.entries.iter().any(|change| is_its(&change.path)))
    };
    let mut later: Vec<LayerRecord> = store.list(Some(&set.project)).into_iter().filter(is_later).collect();
    later.sort_by_key(|other| other.applied_at);
    later.into_iter().rev().filter(has_path).map(|other| other.id).collect()
}

fn undo_advice(id: &str, later: &[String]) -> String {
    match later.first() {
        Some(later) => format!("A later set changed this: run `metier changes undo {later}` first"),
        None => format!(
            "Move what is new elsewhere and bring the rest back to what was applied (`metier changes show {id} --diff`), \
             then run `metier changes undo {id}` again"
        ),
    }
}

/// Where a set was applied or undone, if that is not the current project.
fn elsewhere(set: &LayerRecord, surroundings: &Surroundings) -> String {
    let is_here = surroundings.project() == Some(set.project.as_path());
    if is_here { String::new() } else { clean(&format!(" in {}", set.project.display())) }
}

fn discard(args: &ChangesDiscard, surroundings: &Surroundings, output: &mut Output) -> Result<Exit> {
    let store = surroundings.layers();
    let mut ids = Vec::new();
    for id in &args.ids {
        // Only the layers of sessions begin like this; other ids are numbers.
        if !id.starts_with("session-") || !ignored::discard_session(id, &store, output)? {
            ids.push(id);
        }
    }
    let sets = if args.pending {
        let here = store.list(surroundings.project()).into_iter();
        here.filter(|set| matches!(set.state, LayerState::Pending | LayerState::TakenBack)).collect()
    } else {
        ids.iter().map(|id| find(id, surroundings)).collect::<Result<Vec<_>>>()?
    };
    // A set that is in the project is not dropped by a word: nothing would happen to the files.
    if let Some(set) = sets.iter().find(|set| set.state == LayerState::Applied && set.pending == 0) {
        bail!("the changes `{0}` are applied; `metier changes undo {0}` takes them back", set.id);
    }
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
fn selected(
    changes: &ChangeSet,
    paths: &[PathBuf],
    project: &Path,
    surroundings: &Surroundings,
) -> Result<BTreeSet<LayerPath>> {
    let all = || changes.entries.iter().map(|change| change.path.clone());
    if paths.is_empty() {
        return Ok(all().collect());
    }
    let mut selected = BTreeSet::new();
    for path in paths {
        let Some(folder) = in_project(path, &surroundings.places.current, project)? else {
            return Ok(all().collect());
        };
        let before = selected.len();
        selected.extend(all().filter(|changed| changed.is_below(&folder)));
        if selected.len() == before && !selected.contains(&folder) {
            bail!("{}", not_among(path, &folder, changes, project, surroundings));
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

/// Refuses to take an old name away while the new one stays out: the content would be under neither.
fn check_renames(changes: &ChangeSet, selected: &BTreeSet<LayerPath>) -> Result<()> {
    let is_split = |change: &&metier_changes::Change| {
        let old = change.renamed_from.as_ref();
        !selected.contains(&change.path) && old.is_some_and(|old| selected.contains(old))
    };
    let Some(change) = changes.entries.iter().find(is_split) else { return Ok(()) };
    let old = change.renamed_from.as_ref().map_or_else(String::new, text::shown);
    let new = text::shown(&change.path);
    bail!("{}", clean(&format!("`{old}` was renamed to `{new}`; name both paths, or only `{new}`")))
}

/// Why a typed path selects nothing. Lists show paths as the project has them, so one may have been copied from there.
fn not_among(
    typed: &Path,
    meant: &LayerPath,
    changes: &ChangeSet,
    project: &Path,
    surroundings: &Surroundings,
) -> String {
    let mut text = format!("`{meant}` is not among the changes; `metier changes show` lists them");
    let listed = LayerPath::new(typed.components().collect())
        .filter(|listed| changes.entries.iter().any(|change| change.path.is_below(listed)));
    if let Some(listed) = listed {
        let typed = from_current(&listed, &surroundings.places.current, project);
        text.push_str(&format!(". Paths are seen from the current folder: write `{}`", typed.display()));
    }
    clean(&text)
}

fn tell(id: &str, project: &Path, what: &str, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.json(&json!({ "id": id, "project": project, "result": what }));
    }
    output.line(format!("{id}: {what}"))?;
    Ok(())
}

fn refused(error: &ApplyError) -> anyhow::Error {
    let advice = match error {
        ApplyError::Conflicts(_) => {
            "; nothing was changed. Look at these files, then apply single paths or discard the set"
        }
        _ => "",
    };
    anyhow!("{error}{advice}")
}
