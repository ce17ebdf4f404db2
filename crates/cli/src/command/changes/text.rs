//! Sets of changes for people.

use crate::moment;
use crate::output::{clean, shortened, width};
use metier_changes::{Change, ChangeKind, ChangeSet, Conflict, EntryKind, LayerPath, LayerRecord};
use metier_diagnostic::{counted, escaped_name};
use metier_exec::entry_facts;
use metier_policy::PathEntryKind;
use metier_store::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// From this many paths in one folder on, a folded list names the folder and a number.
const MAX_IN_FOLDER: usize = 8;

/// How much of a list is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Every path.
    All,
    /// Folders with many changes as one line each.
    Folded,
}

/// A line for each set.
pub(super) fn table(sets: &[LayerRecord], with_project: bool) -> Vec<String> {
    let now = Timestamp::now();
    sets.iter()
        .map(|set| {
            let when = moment::ago(Timestamp::from_millis(set.origin.began), now);
            let start = format!("{:<26} {when:<11} {:<10} {:<14}", set.id, set.state.word(), count(set));
            let mut what = format!("{}: {}", set.origin.actor, set.origin.command);
            if with_project {
                what = format!("{}  {what}", set.project.display());
            }
            let room = width().saturating_sub(start.chars().count() + 1).max(20);
            format!("{start} {}", shortened(&clean(&what), room))
        })
        .collect()
}

fn count(set: &LayerRecord) -> String {
    match (set.applied, set.pending) {
        (applied, 0) => counted(applied, "path", "paths"),
        (0, pending) => counted(pending, "path", "paths"),
        (applied, pending) => format!("{applied} of {} paths", applied + pending),
    }
}

/// What a set is, in one line.
pub(super) fn head(set: &LayerRecord) -> String {
    let when = moment::ago(Timestamp::from_millis(set.origin.began), Timestamp::now());
    clean(&format!("{} ({}, {when}), {}: {}", set.id, set.state.word(), set.origin.actor, set.origin.command))
}

/// The selected paths, one a line. Protected paths come first and are never folded.
pub(super) fn paths(
    changes: &ChangeSet,
    selected: &BTreeSet<LayerPath>,
    protected: &BTreeSet<LayerPath>,
    detail: Detail,
) -> Vec<String> {
    let chosen = changes.entries.iter().filter(|change| selected.contains(&change.path));
    let (named, rest): (Vec<&Change>, Vec<&Change>) =
        chosen.partition(|change| protected.contains(&change.path));
    let mut folders: BTreeMap<PathBuf, Vec<&Change>> = BTreeMap::new();
    for change in rest {
        let top = change.path.as_path().parent().unwrap_or(change.path.as_path()).to_owned();
        folders.entry(top).or_default().push(change);
    }
    let mut lines: Vec<String> =
        named.into_iter().map(|change| format!("{}, PROTECTED", line(change))).collect();
    for (folder, inside) in folders {
        if detail == Detail::Folded && inside.len() > MAX_IN_FOLDER {
            let size: u64 =
                inside.iter().filter_map(|change| change.entry.as_ref()).map(|entry| entry.size).sum();
            let folder =
                if folder.as_os_str().is_empty() { "./".into() } else { format!("{}/", folder.display()) };
            lines.push(clean(&format!("  {folder}: {} ({})", kinds(&inside), bytes(size))));
        } else {
            lines.extend(inside.into_iter().map(line));
        }
    }
    lines.extend(
        changes
            .refused
            .iter()
            .map(|refusal| clean(&format!("  never applied: {} ({})", shown(&refusal.path), refusal.why()))),
    );
    lines
}

fn line(change: &Change) -> String {
    let mark = match change.kind {
        ChangeKind::Created => "+",
        ChangeKind::Modified => "~",
        ChangeKind::Deleted => "-",
        ChangeKind::Attributes | ChangeKind::Times => "·",
    };
    let shown_facts = entry_facts(change);
    let slash = if shown_facts.entry == PathEntryKind::Folder { "/" } else { "" };
    let size = change.entry.as_ref().filter(|entry| entry.kind == EntryKind::File);
    let size = size.map(|entry| bytes(entry.size));
    let facts: Vec<String> = shown_facts.words().into_iter().chain(size).collect();
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    let renamed = change
        .renamed_from
        .as_ref()
        .map_or_else(String::new, |from| format!(", renamed from {}", shown(from)));
    // Its mark is the same for both, and the rest of the line says nothing of them.
    let attributes = match change.kind {
        ChangeKind::Attributes | ChangeKind::Times => format!(", {}", change.kind.word()),
        _ => String::new(),
    };
    let conflict = change.conflict.map_or_else(String::new, |reason| format!(", CONFLICT: {reason}"));
    let path = format!("{}{slash}{}", shown(&change.path), shown_facts.arrow());
    clean(&format!("  {mark} {path}{facts}{renamed}{attributes}{conflict}"))
}

/// How many conflicts are named.
const MAX_CONFLICTS: usize = 10;

/// `a was changed by another program, b was …`.
pub(super) fn conflicts(conflicts: &[Conflict]) -> String {
    let mut parts: Vec<String> = conflicts.iter().take(MAX_CONFLICTS).map(ToString::to_string).collect();
    match conflicts.len().saturating_sub(MAX_CONFLICTS) {
        0 => {}
        more => parts.push(format!("and {}", counted(more, "more path", "more paths"))),
    }
    clean(&parts.join(", "))
}

/// A path as it can be typed: what is not seen is an escape.
pub(super) fn shown(path: &LayerPath) -> String {
    escaped_name(path.as_path().as_os_str().as_encoded_bytes())
}

/// `3 created, 2 deleted`.
fn kinds(changes: &[&Change]) -> String {
    let kinds = [
        ChangeKind::Created,
        ChangeKind::Modified,
        ChangeKind::Deleted,
        ChangeKind::Attributes,
        ChangeKind::Times,
    ];
    let parts: Vec<String> = kinds
        .into_iter()
        .filter_map(|kind| {
            let number = changes.iter().filter(|change| change.kind == kind).count();
            (number > 0).then(|| format!("{number} {}", kind.word()))
        })
        .collect();
    parts.join(", ")
}

/// A size for people.
pub(super) fn bytes(size: u64) -> String {
    match size {
        0..10_240 => counted(usize::try_from(size).unwrap_or(usize::MAX), "byte", "bytes"),
        10_240..10_485_760 => format!("{} KiB", size >> 10),
        _ => format!("{} MiB", size >> 20),
    }
}
