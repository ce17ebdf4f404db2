//! What a contained process changed, and how its changes reach the project.
//!
//! A contained process writes to a [`Layer`]: the upper folder of an overlay that lies on the project. When it has ended,
//! [`scan()`] compares the layer with the project and gives a [`ChangeSet`]. A person or a rule selects from it, and
//! [`apply()`] brings the selection into the project: all of it or nothing, also when the machine stops in between. Caches
//! and ignored files go to the [`SessionLayer`] instead, which later calls of the session see.
//!
//! ```text
//! LayerStore::create -> (the process runs) -> scan -> ChangeSet -> select -> apply -> Applied -> undo
//! ```
//!
//! What it is not: it mounts nothing and starts nothing (`metier-sandbox` does), and it decides nothing
//! (`metier-policy` does).
//!
//! ```
//! use metier_changes::{CallOrigin, ChangeKind, LayerStore, scan};
//! # use metier_testkit::Workspace;
//! # let workspace = Workspace::new().dir("data").file("project/a.txt", "one");
//! # let (data, project) = (workspace.join("data"), workspace.join("project"));
//!
//! let store = LayerStore::new(&data);
//! let layer = store.create(&project, CallOrigin::new("touch b.txt", "agent", "session"))?;
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

mod absorb;
mod apply;
mod beneath;
mod blank;
mod change;
mod content;
mod copy;
mod database;
mod error;
mod git_index;
mod journal;
mod layer;
mod listed;
mod lower;
mod mounts;
mod noise;
mod noted;
mod origin;
mod path;
mod place;
mod plan;
mod put;
mod recover;
mod remove;
mod scan;
mod session;
mod spares;
mod stage;
mod stamp;
mod state;
mod store;
mod text;
mod xattr;

pub use self::apply::{Applied, Undone, apply, undo};
pub use self::change::{
    Change, ChangeKind, ChangeSet, Entry, EntryKind, Refusal, RefusalDetail, RefusalReason,
};
pub use self::error::{ApplyError, Conflict, ConflictReason, LayerError};
pub use self::layer::{Layer, LayerUsage};
pub use self::listed::{ListedChange, ListedEntry};
pub use self::noise::{Noise, NoiseReason};
pub use self::origin::CallOrigin;
pub use self::path::LayerPath;
pub use self::recover::{Interrupted, Recovered};
pub use self::scan::scan;
pub use self::session::{SessionLayer, SessionRecord};
pub use self::state::{LayerRecord, LayerState};
pub use self::store::{DEFAULT_RETENTION, LayerStore, NO_RETENTION, Retention};
pub use self::text::{MAX_DIFF_BYTES, NoTextError, TextChange, text_of};
