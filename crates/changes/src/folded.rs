//! Changes in short, for people.

use serde::Serialize;

use crate::change::{Change, ChangeKind, ChangeSet, EntryKind};
use crate::path::LayerPath;

/// One line in a list of changes: a path, or a folder with everything in it that was changed in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoldedChange {
    /// Where.
    pub path: LayerPath,
    /// What happened.
    pub kind: FoldedKind,
    /// How many files and links it stands for; none for an empty folder.
    pub files: usize,
    /// Their size in bytes, afterwards or, of deleted ones, before.
    pub bytes: u64,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Whether another program changed something of it meanwhile.
    pub has_conflict: bool,
}

/// What happened to a path or to everything in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "what")]
pub enum FoldedKind {
    /// It is new.
    Created,
    /// It has other content.
    Modified,
    /// It is gone.
    Deleted,
    /// It has other permissions.
    Attributes,
    /// It has another time.
    Times,
    /// It has another name.
    Renamed {
        /// The name it had.
        from: LayerPath,
    },
    /// Different things in one folder.
    Mixed,
}

impl From<ChangeKind> for FoldedKind {
    fn from(kind: ChangeKind) -> Self {
        match kind {
            ChangeKind::Created => Self::Created,
            ChangeKind::Modified => Self::Modified,
            ChangeKind::Deleted => Self::Deleted,
            ChangeKind::Attributes => Self::Attributes,
            ChangeKind::Times => Self::Times,
        }
    }
}

/// One change without what only applying needs, as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedChange<'a> {
    /// Where.
    pub path: &'a LayerPath,
    /// What happened.
    pub kind: ChangeKind,
    /// What is there afterwards; `null` for what was deleted.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub entry: Option<ListedEntry>,
    /// The name it had, if it was probably renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<&'a LayerPath>,
    /// In which way another program changed it meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict: Option<crate::ConflictReason>,
}

/// What a path holds, as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedEntry {
    /// File, folder or link.
    pub entry: EntryKind,
    /// In bytes; zero for a folder.
    pub size: u64,
    /// Of a file's content or a link's target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The permissions, in octal.
    pub mode: String,
}

impl ChangeSet {
    /// The changes as JSON has them.
    pub fn listed(&self) -> Vec<ListedChange<'_>> {
        self.entries.iter().map(listed).collect()
    }

    /// The changes in short: renamed files as one line, and a new or deleted folder as one line with everything in it. If
    /// there are still more than `lines`, everything in a folder at the top becomes one line.
    pub fn folded(&self, lines: usize) -> Vec<FoldedChange> {
        let sources: std::collections::BTreeSet<&LayerPath> =
            self.entries.iter().filter_map(|change| change.renamed_from.as_ref()).collect();
        let mut folded: Vec<FoldedChange> = Vec::new();
        let mut at = 0;
        while let Some(change) = self.entries.get(at) {
            let whole = &self.entries[at..];
            let count = whole.iter().take_while(|below| below.path.is_below(&change.path)).count();
            let is_pair = |change: &Change| change.renamed_from.is_some() || sources.contains(&change.path);
            let is_one_thing =
                || whole[..count].iter().all(|below| below.kind == change.kind && !is_pair(below));
            if matches!(change.kind, ChangeKind::Created | ChangeKind::Deleted) && count > 1 && is_one_thing()
            {
                folded.push(fold(&change.path, &whole[..count], change.kind.into(), true));
                at += count;
                continue;
            }
            at += 1;
            if change.kind == ChangeKind::Deleted && sources.contains(&change.path) {
                continue;
            }
            let renamed = change.renamed_from.clone().map(|from| FoldedKind::Renamed { from });
            let kind = renamed.unwrap_or_else(|| change.kind.into());
            folded.push(fold(&change.path, std::slice::from_ref(change), kind, is_folder(change)));
        }
        if folded.len() > lines { self.by_top_folder() } else { folded }
    }

    fn by_top_folder(&self) -> Vec<FoldedChange> {
        let top = |change: &Change| change.path.as_path().iter().next().map(LayerPath::top);
        let mut folded = Vec::new();
        for group in self.entries.chunk_by(|left, right| top(left) == top(right)) {
            let (Some(first), Some(path)) = (group.first(), group.first().and_then(top)) else { continue };
            let is_one_thing = group.iter().all(|change| change.kind == first.kind);
            let kind = if is_one_thing { first.kind.into() } else { FoldedKind::Mixed };
            folded.push(fold(&path, group, kind, first.path != path || is_folder(first)));
        }
        folded
    }
}

fn listed(change: &Change) -> ListedChange<'_> {
    let entry = change.entry.as_ref().map(|entry| ListedEntry {
        entry: entry.kind,
        size: entry.size,
        digest: entry.digest.map(|digest| digest.to_string()),
        mode: format!("{:04o}", entry.mode),
    });
    ListedChange {
        path: &change.path,
        kind: change.kind,
        entry,
        renamed_from: change.renamed_from.as_ref(),
        conflict: change.conflict,
    }
}

fn fold(path: &LayerPath, changes: &[Change], kind: FoldedKind, is_folder: bool) -> FoldedChange {
    let size = |change: &Change| {
        let after = change.entry.as_ref().map(|entry| (entry.kind, entry.size));
        let before = change.before.and_then(|before| Some((before.kind?, before.size)));
        after.or(before).filter(|(kind, _)| *kind != EntryKind::Folder).map(|(_, size)| size)
    };
    FoldedChange {
        path: path.clone(),
        kind,
        files: changes.iter().filter_map(size).count(),
        bytes: changes.iter().filter_map(size).sum(),
        is_folder,
        has_conflict: changes.iter().any(|change| change.conflict.is_some()),
    }
}

fn is_folder(change: &Change) -> bool {
    let after = change.entry.as_ref().map(|entry| entry.kind);
    after.or(change.before.and_then(|before| before.kind)) == Some(EntryKind::Folder)
}
