//! What a process changed in the project, path by path.

use crate::action::{Action, Actor, Deed, Digest, Need};
use crate::place::Place;
use serde::{Deserialize, Serialize};

/// One changed path of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    /// Where, with every name that a rule may use for it; a folder is marked as one.
    pub place: Place,
    /// What happened.
    pub kind: PathChangeKind,
    /// Size in bytes afterwards; of a deleted path and of a folder, zero.
    pub size: u64,
    /// The digest of what is there afterwards.
    pub digest: Option<Digest>,
    /// The deleted path that a created file probably was before. Both are in the list, and each is decided.
    pub renamed_from: Option<Place>,
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
    /// A change of which only the path and the kind are known.
    pub fn new(place: Place, kind: PathChangeKind) -> Self {
        Self { place, kind, size: 0, digest: None, renamed_from: None }
    }
}

impl Action {
    /// What a process changed is applied to the project. Each path is a need of its own, so that each is held against the rules.
    pub fn changes(actor: Actor, changes: Vec<PathChange>) -> Self {
        let needs = changes.iter().map(|change| Need::Write(change.place.clone())).collect();
        Self { actor, deed: Deed::Changes(changes), needs }
    }
}
