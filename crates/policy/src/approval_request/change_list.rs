//! The changes of a call as lines of a question.

use crate::path_change::{PathChange, PathChangeKind, PathEntryKind};
use crate::sentence::counted_paths;
use metier_diagnostic::{counted, grouped, visible};
use std::collections::{BTreeMap, BTreeSet};

/// The most lines for unprotected paths. More than a screen is not read, so folders are folded then.
const MAX_LINES: usize = 40;

/// The changes as lines, and whether each path has one. Protected places come first, each on a line of its own however many there
/// are. Then what is deleted, modified, and created.
pub(super) fn change_lines(changes: &[PathChange]) -> (Vec<String>, bool) {
    // The source of a rename is in the line of its target, unless it is protected.
    let sources: BTreeSet<&str> =
        changes.iter().filter_map(|change| Some(change.renamed_from.as_ref()?.as_str())).collect();
    let is_shown = |change: &&PathChange| {
        let is_source = change.kind == PathChangeKind::Delete && sources.contains(change.place.as_str());
        change.place.is_guarded() || !is_source
    };
    let (protected, mut rest): (Vec<&PathChange>, Vec<&PathChange>) =
        changes.iter().filter(is_shown).partition(|change| change.place.is_guarded());
    let mut lines: Vec<String> = protected.into_iter().map(|change| line('!', change)).collect();
    let is_whole = rest.len() <= MAX_LINES;
    rest.sort_by_key(|change| change.kind);
    if is_whole {
        lines.extend(rest.into_iter().map(|change| line('-', change)));
    } else {
        lines.extend(folded(&rest));
    }
    (lines, is_whole)
}

fn line(mark: char, change: &PathChange) -> String {
    let PathChange { place, kind, facts: shown, size, .. } = change;
    let slash = if shown.entry == PathEntryKind::Folder { "/" } else { "" };
    let what = match &change.renamed_from {
        // What was there is gone then.
        Some(from) if *kind == PathChangeKind::Modify => format!("rename `{from}` over `{place}`"),
        Some(from) => format!("rename `{from}` to `{place}`"),
        None => format!("{} `{place}{slash}`{}", kind.word(), shown.arrow()),
    };
    let has_size = *kind != PathChangeKind::Delete && shown.entry == PathEntryKind::File;
    let protected = place.is_guarded().then(|| "protected".to_owned());
    let facts: Vec<String> =
        protected.into_iter().chain(shown.words()).chain(has_size.then(|| amount(*size))).collect();
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    visible(&format!("  {mark} {what}{facts}")).into_owned()
}

/// A line for each folder at the top and for each file there; one for all the files at the top where those are too many.
fn folded(changes: &[&PathChange]) -> Vec<String> {
    let mut tops: BTreeMap<&str, Vec<&PathChange>> = BTreeMap::new();
    for change in changes {
        let top = change.place.as_str().split_once('/').map_or("", |(top, _)| top);
        tops.entry(top).or_default().push(change);
    }
    let mut lines = Vec::new();
    let loose = tops.remove("").unwrap_or_default();
    // A folder at the top is counted with what is below.
    let loose: Vec<&PathChange> =
        loose.into_iter().filter(|change| !tops.contains_key(change.place.as_str())).collect();
    if loose.len() + tops.len() <= MAX_LINES {
        lines.extend(loose.into_iter().map(|change| line('-', change)));
    } else if !loose.is_empty() {
        lines.push(folded_line("./", &loose));
    }
    if tops.len() <= MAX_LINES {
        lines.extend(tops.iter().map(|(top, changes)| folded_line(&format!("{top}/"), changes)));
    } else {
        let count = grouped(tops.len() as u64);
        let changes: Vec<_> = tops.into_values().flatten().collect();
        lines.push(folded_line(&format!("{count} folders"), &changes));
    }
    lines
}

/// What happened below a folder.
fn folded_line(name: &str, changes: &[&PathChange]) -> String {
    let count = |kind| changes.iter().filter(|change| change.kind == kind).count();
    let kinds =
        PathChangeKind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, count)| *count > 0);
    let kinds: Vec<String> =
        kinds.map(|(kind, count)| format!("{} {}", kind.word(), counted_paths(count))).collect();
    let size = changes.iter().map(|change| change.size).fold(0, u64::saturating_add);
    visible(&format!("  - `{name}`: {} ({})", kinds.join(", "), amount(size))).into_owned()
}

/// A size as people read it.
fn amount(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    let unit = UNITS.into_iter().find(|(_, size)| bytes >= *size);
    match unit {
        Some((unit, size)) => format!("{}.{} {unit}", bytes / size, bytes % size / (size / 10)),
        None => counted(usize::try_from(bytes).unwrap_or(usize::MAX), "byte", "bytes"),
    }
}
