//! Which skills are there, which of them may be used, and what a model is told of them.

mod capability;
mod catalogue;
pub mod code;
mod config;
mod disabled;
mod document;
mod entry;
mod explain;
mod identity;
mod layout;
mod lookup;
mod nearest;
mod offer;
mod origin;
mod place;
mod places;
mod project;
mod reference;
mod root;
mod settings;
mod snapshot;
mod source;
mod swap;
mod tokens;
mod trust;
mod version;
mod visit;

pub use capability::{Capabilities, CapabilityChange, Script};
pub use catalogue::{
    Catalogue, CatalogueOptions, DEFAULT_BUDGET, Disclosure, EagerSection, Form, Offer, Report, WINDOW_SHARE,
    budget, render,
};
pub use config::{CatalogConfig, Config, DiscoveryConfig, RootConfig, SkillConfig, Visibility};
pub use disabled::{DISABLED_FILE, Disabled, DisabledError, Switch, switch};
pub use document::{MAX_DOCUMENT, SkillFile};
pub use entry::{Entry, EntryId, Relation, State};
pub use explain::{
    ExplainOptions, ExplainedFailure, ExplainedSkill, Explanation, InCatalogue, Parsing, Reason, Searched,
    Tools, Verdict,
};
pub use layout::{Layout, RootChoice};
pub use lookup::{Lookup, Unresolved};
pub use offer::Cost;
pub use origin::{Class, Origin};
pub use places::Places;
pub use project::Project;
pub use reference::{Reference, ReferenceError};
pub use root::{AllowedTools, Root, RootTrust};
pub use settings::{ConfigFile, Settings};
pub use snapshot::{Failure, Include, Snapshot};
pub use source::{Provenance, SOURCE_FILE};
pub use swap::Catalog;
pub use tokens::{BYTES_PER_TOKEN, Tokens};
pub use trust::{
    Act, Ownership, Preview, ProjectFile, ProjectRecord, SkillPreview, Standing, TrustChange, TrustError,
    TrustStore, changes, changes_of, project_files,
};
pub use version::{Requirement, Version};
