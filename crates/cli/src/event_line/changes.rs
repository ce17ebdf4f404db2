//! What became of the changes of a call, in a few lines.

use super::{Line, Style, line};
use crate::output::clean;
use metier_diagnostic::counted;
use metier_policy::{EntryFacts, ModeChange, PathEntryKind};
use metier_store::{RecordedChange, RecordedChanges};

/// How many paths of one kind are named. `metier changes show` names all of them.
const MAX_NAMED: usize = 6;

/// What was applied, what waits and how to apply it.
pub(super) fn lines(changes: &RecordedChanges) -> Vec<Line> {
    let mut lines = Vec::new();
    for entry in changes.in_state("applied").take(MAX_NAMED) {
        let kind = (entry.kind != "modified").then(|| entry.kind.clone());
        lines.push(line(Style::Step, format!("[changed] {}", described(entry, kind))));
    }
    let more = changes.in_state("applied").count().saturating_sub(MAX_NAMED);
    if more > 0 {
        let text = format!(
            "[changed] {}: `metier changes show {}`",
            counted(more, "more path", "more paths"),
            id(changes)
        );
        lines.push(line(Style::Step, text));
    }
    for (state, head) in [
        ("not-approved", "waiting"),
        ("refused", "refused"),
        ("failed", "not applied"),
        ("never", "never applied"),
    ] {
        if let Some(names) = names(changes, state) {
            lines.push(line(Style::Caution, format!("[{head}] {names}")));
        }
    }
    if let Some(problem) = &changes.problem {
        lines.push(line(Style::Caution, format!("[not applied] {}", clean(problem))));
    }
    if changes.waiting > 0 {
        lines.push(line(
            Style::Caution,
            format!("[waiting] apply with `metier changes apply {}`", id(changes)),
        ));
    }
    lines
}

fn id(changes: &RecordedChanges) -> String {
    clean(&changes.id)
}

/// The paths in a state on one line: `create a, modify b and 3 more paths`.
fn names(changes: &RecordedChanges, state: &str) -> Option<String> {
    // Protected ones first: they run or are obeyed later.
    let mut entries: Vec<&RecordedChange> = changes.in_state(state).collect();
    entries.sort_by_key(|entry| !entry.protected);
    let mut names: Vec<String> = entries.iter().take(MAX_NAMED).map(|entry| named(entry)).collect();
    let more = entries.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        names.push(counted(more, "more path", "more paths"));
    }
    (!names.is_empty()).then(|| names.join(", "))
}

fn named(entry: &RecordedChange) -> String {
    let protected = entry.protected.then(|| "protected".to_owned());
    format!("{} {}", clean(&entry.kind), described(entry, protected))
}

/// A path with where it leads, and in brackets `first` and what else people are shown of it.
fn described(entry: &RecordedChange, first: Option<String>) -> String {
    let kind = |word: &str| match word {
        "folder" => PathEntryKind::Folder,
        "link" => PathEntryKind::Link,
        _ => PathEntryKind::File,
    };
    let mode = |text: &Option<String>| u32::from_str_radix(text.as_deref()?, 8).ok();
    let modes = mode(&entry.mode_before).zip(mode(&entry.mode));
    let facts = EntryFacts {
        entry: kind(entry.entry.as_deref().unwrap_or_default()),
        replaced: entry.type_before.as_deref().map(kind),
        target: entry.target.clone(),
        executable: entry.executable,
        mode: modes.map(|(before, after)| ModeChange { before, after }),
    };
    let words: Vec<String> = first.into_iter().chain(facts.words()).collect();
    let words = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
    clean(&format!("{}{}{words}", entry.path, facts.arrow()))
}
