//! What a process changed in the project, path by path.

use crate::action::{Action, Actor, Deed, Digest, Need};
use crate::place::Place;
use metier_diagnostic::escaped_name;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One changed path of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    /// Where, with every name that a rule may use for it; a folder is marked as one.
    pub place: Place,
    /// What happened.
    pub kind: PathChangeKind,
    /// What people are shown of it besides its path and size.
    pub facts: EntryFacts,
    /// Size in bytes afterwards; of a deleted path and of a folder, zero.
    pub size: u64,
    /// The digest of what is there afterwards.
    pub digest: Option<Digest>,
    /// The deleted path that a created file probably was before. Both are in the list, and each is decided.
    pub renamed_from: Option<Place>,
    /// The changed lines, for a person who asks for them. They are not part of an approval. `None` if no one is asked.
    pub diff: Option<String>,
}

/// What a path holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathEntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
}

impl PathEntryKind {
    /// The word users see.
    pub const fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Link => "link",
        }
    }
}

/// The permission bits of a path before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModeChange {
    /// As they were.
    pub before: u32,
    /// As they are to be.
    pub after: u32,
}

/// `0644 -> 0755`.
impl fmt::Display for ModeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o} -> {:04o}", self.before, self.after)
    }
}

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathChangeKind {
    /// It is gone.
    Delete,
    /// It has other content.
    Modify,
    /// It has other permissions.
    Attributes,
    /// It has another time.
    Times,
    /// It is new.
    Create,
}

impl PathChangeKind {
    /// Every kind, in the order in which questions show them: what is lost comes first.
    pub const ALL: [Self; 5] = [Self::Delete, Self::Modify, Self::Attributes, Self::Times, Self::Create];

    /// The word users see.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Modify => "modify",
            Self::Attributes => "set permissions of",
            Self::Times => "set the time of",
            Self::Create => "create",
        }
    }
}

impl PathChange {
    /// A change of a file, or of a folder where the place is marked as one.
    pub fn new(place: Place, kind: PathChangeKind) -> Self {
        let entry = if place.is_folder() { PathEntryKind::Folder } else { PathEntryKind::File };
        let facts = EntryFacts { entry, replaced: None, target: None, executable: false, mode: None };
        Self { place, kind, facts, size: 0, digest: None, renamed_from: None, diff: None }
    }
}

/// What people are shown of an entry besides its path and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryFacts {
    /// What is there afterwards; of a deleted path, what was there.
    pub entry: PathEntryKind,
    /// What was there before, where it was something else than `entry`.
    pub replaced: Option<PathEntryKind>,
    /// Where a link leads, for people. The digest tells targets apart that look the same.
    pub target: Option<String>,
    /// Whether there is a file that can be executed where there was no file.
    pub executable: bool,
    /// Other permissions than before.
    pub mode: Option<ModeChange>,
}

impl EntryFacts {
    /// What follows the name of a link, such as ` -> /etc/passwd`.
    pub fn arrow(&self) -> String {
        let target = self.target.as_ref();
        target.map_or_else(String::new, |target| format!(" -> {}", escaped_name(target.as_bytes())))
    }

    /// `link`, `was a folder`, `0644 -> 0755`, `executable`, each where it is so.
    pub fn words(&self) -> Vec<String> {
        let is_link = self.entry == PathEntryKind::Link;
        [
            is_link.then(|| self.entry.word().to_owned()),
            self.replaced.map(|replaced| format!("was a {}", replaced.word())),
            self.mode.map(|mode| mode.to_string()),
            self.executable.then(|| "executable".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Action {
    /// What a process changed is applied to the project. Each path is a need of its own, so that each is held against the rules.
    pub fn changes(actor: Actor, changes: Vec<PathChange>) -> Self {
        let needs = changes.iter().map(|change| Need::Write(change.place.clone())).collect();
        Self { actor, deed: Deed::Changes(changes), needs }
    }
}
