//! What a contained process changed, and how its changes reach the project.
//!
//! A contained process writes to a [`Layer`]: the upper folder of an overlay that lies on the project. When it has ended,
//! [`scan()`] compares the layer with the project and gives a [`ChangeSet`]. A person or a rule selects from it, and
//! [`apply()`] brings the selection into the project: all of it or nothing, also when the machine stops in between.
//!
//! ```text
//! Layer::create -> (the process runs) -> scan -> ChangeSet -> select -> apply -> Applied -> undo
//! ```
//!
//! What it is not: it mounts nothing and starts nothing (`metier-sandbox` does), and it decides nothing
//! (`metier-policy` does).
//!
//! ```
//! use metier_changes::{ChangeKind, Layer, scan};
//! # use metier_testkit::Workspace;
//! # let workspace = Workspace::new().dir("layers").file("project/a.txt", "one");
//! # let (layers, project) = (workspace.join("layers"), workspace.join("project"));
//!
//! let layer = Layer::create(&layers, &project)?;
//! // In place of a process in an overlay:
//! std::fs::write(layer.upper().join("b.txt"), "two")?;
//! let changes = scan(&layer)?;
//! assert_eq!(changes.entries[0].kind, ChangeKind::Created);
//! assert_eq!(changes.entries[0].path.to_string(), "b.txt");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![expect(
    clippy::disallowed_methods,
    reason = "layers are metier's own folders, and the project is changed beneath a handle that follows no link"
)]

mod apply;
mod beneath;
mod change;
mod error;
mod journal;
mod layer;
mod path;
mod plan;
mod recover;
mod scan;
mod stamp;

pub use self::apply::{Applied, apply, undo};
pub use self::change::{Change, ChangeKind, ChangeSet, Entry, EntryKind, Refusal, RefusalReason};
pub use self::error::{ApplyError, Conflict, ConflictReason, LayerError};
pub use self::layer::Layer;
pub use self::path::LayerPath;
pub use self::recover::{Recovered, State, recover};
pub use self::scan::scan;
