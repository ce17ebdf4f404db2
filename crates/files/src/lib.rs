//! The only way metier touches files.
//!
//! A skill's folder is a stranger's: it may hold links to anywhere, FIFOs that make a reader wait for ever, a million
//! files, a file of a terabyte. Everything here is confined to the folder, bounded in size and number, and never waits.
//!
//! - [`sweep()`] finds the skills below some roots, as fast as the disk gives them.
//! - [`SkillDir`] is one skill's folder, opened once; every read from it names a [`RelativePath`] and a limit.
//! - [`Ground`] is a folder in which somebody works: read, searched and written beneath its handle.
//! - [`Survey`] is what a project holds that a script must not read or must not write, kept current.
//! - [`TreeDigest`] says whether two folders hold the same, [`FileDigest`] whether two files do.
//! - [`Imprint`] is a folder whose every byte is known beforehand: written as a whole, and compared.
//! - [`Watch`] tells that something in a folder has changed, [`Stamp`] whether a file has.
//! - [`read_bounded`], [`write_atomic`] and their neighbours are for single files outside skills, which are the user's own.
//!
//! What this crate is not: it knows nothing of what is written in a `SKILL.md`, makes no decision on trust (the caller
//! says where links may lead), reads no environment, prints nothing and starts no process.
//!
//! ```
//! # use metier_testkit::Workspace;
//! use metier_files::{Bounds, LinkPolicy, SkillDir, SweepRoot, TreeDigest, sweep};
//!
//! # let workspace = Workspace::new().skill("skills/greet", "Greets people.");
//! # let folder = workspace.join("skills");
//! let roots = [SweepRoot::new(&folder, LinkPolicy::Inside(Vec::new()))];
//! let sweep = sweep(&roots, &Bounds::default(), |candidate| candidate.head.starts_with(b"---"));
//! assert!(sweep.found.iter().all(|skill| skill.value));
//!
//! let skill = SkillDir::open(&folder.join(&sweep.found[0].folder))?;
//! let document = skill.read_document(1 << 20)?;
//! assert!(document.bytes.starts_with(b"---\nname: greet"));
//! assert!(TreeDigest::of(&skill)?.to_string().starts_with("sha256:"));
//! # Ok::<(), metier_files::Error>(())
//! ```

#![expect(
    clippy::disallowed_methods,
    reason = "this is the crate through which everybody else reads and writes files"
)]

mod digest;
mod document;
mod document_name;
mod entries;
mod error;
mod extent;
mod file_globs;
mod folder_lock;
mod ground;
mod ignore;
mod imprint;
mod media_type;
mod open;
mod os_error;
mod passing_folder;
mod plain_path;
mod program;
mod protected;
mod relative;
mod secrets;
mod skill_dir;
mod stamp;
mod survey;
mod sweep;
mod tree;
mod tree_copies;
mod watch;

pub use self::file_globs::FileGlobs;
pub use self::ignore::{Ignore, IgnoreError};
pub use digest::{DigestParseError, FileDigest, TreeDigest};
pub use document::{
    HeldFile, Kind, Mode, create_new_dir, kind, read_bounded, real_path, remove_empty_dir, write_atomic,
    write_new, write_private,
};
pub use document_name::DocumentName;
pub use error::Error;
pub use extent::Extent;
pub use folder_lock::FolderLock;
pub use ground::{Expected, Ground, GroundFile, Overgrown, WalkBounds, Walked};
pub use imprint::{Difference, How, Imprint, ImprintFile};
pub use media_type::{MEDIA_HEAD, media_type, media_type_by_name};
pub use os_error::OsError;
pub use passing_folder::PassingFolder;
pub use plain_path::plain_path;
pub use program::{is_program, link_target, names_in, private_folder, which_in};
pub use protected::{
    Missing, NoChanges, PROTECTED, Planned, PlannedChanges, Presence, Protected, ProtectedPlaces,
    ProtectedRule, UserPaths, completing_parts, is_obeyed_in, is_repository, may_hold_protected,
    maybe_repositories, obeyed_by, protected_part,
};
pub use relative::{RelativePath, RelativePathError};
pub use secrets::{Proof, SECRETS, SecretRule, looks_secret};
pub use skill_dir::{
    Binary, BinaryKind, Content, Document, LeftOut, LeftOutReason, ListBounds, Listed, ListedLink, Listing,
    PAGE, Page, SkillDir, TextPage,
};
pub use stamp::{Stamp, is_link};
pub use survey::{Bounded, Changed, Secret, Survey, SurveyBounds, Unreadable};
pub use sweep::{
    Bounds, Candidate, Found, LinkPolicy, Nested, Place, Problem, Repeat, Sweep, SweepRoot, sweep,
    sweep_places,
};
pub use tree_copies::{TreeCopies, TreeCopy};
pub use watch::{Interest, Wait, Waker, Watch, WatchError, WatchEvent, WatchToken};
