//! Temporary workspaces for metier's tests, and the examples that they run.
//!
//! A [`Workspace`] is a folder below the system's temporary folder that is filled in one expression and removed when it
//! goes out of scope. It can hold what real skill folders hold and what hostile ones hold: links, FIFOs, sockets,
//! executables, file names that are not UTF-8.
//!
//! What this crate is not: it knows nothing of skills beyond the four lines of a minimal `SKILL.md`, depends on no
//! other crate of metier, and is never part of the program. It panics with a message where a fixture cannot be made,
//! since a test without its fixture has nothing to say.
//!
//! ```
//! use metier_testkit::Workspace;
//!
//! let workspace = Workspace::new()
//!     .skill("skills/greet", "Greets people by name.")
//!     .executable("skills/greet/scripts/run.sh", "#!/bin/sh\necho hello\n")
//!     .symlink("skills/alias", "greet");
//!
//! assert!(workspace.join("skills/alias/SKILL.md").is_absolute());
//! ```

mod example;
mod not_tried;
mod workspace;

pub use example::example;
pub use not_tried::not_tried;
pub use workspace::Workspace;
