//! A change as the gate knows it.

use std::path::Path;

use metier_changes::{Change, ChangeKind, Entry, EntryKind, LayerPath};
use metier_policy::{Digest, EntryFacts, ModeChange, PathChange, PathChangeKind, PathEntryKind, Place};

/// The bits that programs and people set. The others never differ.
const PERMISSIONS: u32 = 0o777;

/// A change with everything that a question shows of it.
pub(super) fn path_change(change: &Change, project: &Path, is_guarded: bool) -> PathChange {
    let now = change.entry.as_ref();
    let mut place = written_place(&change.path, project);
    if now.is_some_and(|entry| entry.kind == EntryKind::Folder) {
        place = place.folder();
    }
    if is_guarded {
        place = place.guarded();
    }
    PathChange {
        kind: change_kind(change.kind),
        facts: entry_facts(change),
        size: now.map_or(0, |entry| entry.size),
        digest: now.and_then(|entry| entry.digest).map(|digest| Digest(digest.to_string())),
        renamed_from: change.renamed_from.as_ref().map(|path| written_place(path, project)),
        diff: None,
        place,
    }
}

/// What people are shown of a change besides its path and size.
pub fn entry_facts(change: &Change) -> EntryFacts {
    let (now, before) = (change.entry.as_ref(), change.previous());
    let entry = now.or(before.as_ref()).map_or(PathEntryKind::File, |entry| entry_kind(entry.kind));
    let replaced = before.as_ref().map(|before| entry_kind(before.kind)).filter(|before| *before != entry);
    EntryFacts {
        entry,
        replaced,
        target: now.and_then(|entry| entry.target.clone()),
        executable: is_new_executable(change),
        mode: mode_change(change),
    }
}

/// Whether there is a file that can be executed where there was no file. Of one that was there, [`mode_change`] says it.
fn is_new_executable(change: &Change) -> bool {
    let is_file = |entry: &Entry| entry.kind == EntryKind::File;
    let is_executable = |entry: &Entry| is_file(entry) && entry.mode & 0o111 != 0;
    change.entry.as_ref().is_some_and(is_executable) && !change.previous().as_ref().is_some_and(is_file)
}

/// The permissions before and after, where a file or folder stays and has others.
fn mode_change(change: &Change) -> Option<ModeChange> {
    let (before, after) = (change.previous()?, change.entry.as_ref()?);
    let is_same_kind = before.kind == after.kind && after.kind != EntryKind::Link;
    let mode = ModeChange { before: before.mode & PERMISSIONS, after: after.mode & PERMISSIONS };
    (is_same_kind && mode.before != mode.after).then_some(mode)
}

/// A path by both of its names: rules may be seen from the project or name the whole path.
pub fn written_place(path: &LayerPath, project: &Path) -> Place {
    let whole = project.join(path.as_path());
    Place::from_bytes(whole.as_os_str().as_encoded_bytes()).below(&project.to_string_lossy(), "")
}

pub(super) const fn entry_kind(kind: EntryKind) -> PathEntryKind {
    match kind {
        EntryKind::File => PathEntryKind::File,
        EntryKind::Folder => PathEntryKind::Folder,
        EntryKind::Link => PathEntryKind::Link,
    }
}

const fn change_kind(kind: ChangeKind) -> PathChangeKind {
    match kind {
        ChangeKind::Created => PathChangeKind::Create,
        ChangeKind::Modified => PathChangeKind::Modify,
        ChangeKind::Deleted => PathChangeKind::Delete,
        ChangeKind::Attributes => PathChangeKind::Attributes,
        ChangeKind::Times => PathChangeKind::Times,
    }
}
