//! The steps that apply a selection, as they are written down before the first one.

use serde::{Deserialize, Serialize};

use crate::path::LayerPath;
use crate::stamp::{Stamp, Time};

/// What is to be done, or was done, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// Which of the layer's journals: a selection can be applied now and another one later.
    pub(crate) number: u32,
    /// When it was applied, in milliseconds since 1970. Earlier versions did not note it.
    #[serde(default)]
    pub(crate) applied_at: u64,
    pub(crate) steps: Vec<Step>,
    /// Every path that it covers, with its state afterwards; `None` for what was deleted.
    pub(crate) paths: Vec<Outcome>,
}

impl Journal {
    /// Whether it covers a path. Its paths are in their order.
    pub(crate) fn has(&self, path: &LayerPath) -> bool {
        self.paths.binary_search_by(|outcome| outcome.path.cmp(path)).is_ok()
    }
}

/// One path of the project after a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) path: LayerPath,
    pub(crate) after: Option<Stamp>,
}

/// One step. Each can be recognised as done by the identity of the files it moves, so repeating one changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "step")]
pub(crate) enum Step {
    /// Makes a folder of which not everything was selected. It stays open until everything is in it.
    MakeFolder { path: LayerPath, mode: u32 },
    /// Moves a new entry from the layer, a folder with everything in it.
    Place { path: LayerPath, new: Stamp },
    /// Exchanges an entry of the project and one of the layer. `below` is what a folder of the project held.
    Replace { path: LayerPath, old: Stamp, new: Stamp, below: Vec<Below> },
    /// Moves an entry of the project aside, a folder with everything in it.
    Remove { path: LayerPath, old: Stamp, below: Vec<Below>, slot: u32 },
    /// Opens a folder of the project that its owner may not write: nothing in it could be changed, and it could not be moved.
    Open { path: LayerPath, old: Stamp },
    /// Sets permissions and time.
    Attributes { path: LayerPath, old: Stamp, mode: u32, modified: Time },
    /// Gives a folder that its owner may not write its permissions: while it had them, it could not be moved or filled.
    Close { path: LayerPath, mode: u32 },
}

/// Something in a folder that goes as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Below {
    pub(crate) path: LayerPath,
    pub(crate) old: Stamp,
}

impl Step {
    pub(crate) fn path(&self) -> &LayerPath {
        match self {
            Self::MakeFolder { path, .. }
            | Self::Place { path, .. }
            | Self::Replace { path, .. }
            | Self::Remove { path, .. }
            | Self::Open { path, .. }
            | Self::Attributes { path, .. }
            | Self::Close { path, .. } => path,
        }
    }
}
