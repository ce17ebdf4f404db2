//! Which skills are there, which of them may be used, and what a model is told of them.
//!
//! The way of the data, each step a plain value:
//!
//! - [`Places`] says where things are on this machine; the program fills it, nothing here reads the environment.
//! - [`Layout`] makes an ordered list of roots of them, with the project, its trust and the [`Settings`] in force.
//! - [`Snapshot`] is every skill of a layout at one moment: found by one sweep, parsed on the way, names and states
//!   settled. It never changes; a [`Catalog`] holds the one in force and exchanges it as a whole.
//! - [`Catalog::watch`] follows the files and puts a new snapshot in force when they change, reading only what did.
//! - [`Snapshot::find`] leads from a [`Reference`] to a skill, [`Snapshot::catalogue`] to what the model sees first,
//!   [`Snapshot::explain`] to one clear answer about a name.
//! - [`TrustStore`] records what the user trusts, [`Preview`] is what a project would switch on, and [`TrustDiff`] what of
//!   it is new or changed since, and so takes no effect.
//!
//! What this crate is not: it decides nothing about running a skill, starts no process, writes nothing but the trust
//! store, `.disabled.json` and the skills that come with a program ([`Bundled`]), and prints nothing. What it reads it reads through `metier-files`; what is in a
//! `SKILL.md` it knows from `metier-skill`.
//!
//! ```
//! # let workspace = metier_testkit::Workspace::new().skill("home/.claude/skills/greet", "Greets people by name.");
//! # let home = workspace.join("home");
//! use metier_catalog::{Include, Layout, Places, RootChoice, Snapshot, State};
//! use std::sync::Arc;
//!
//! let places = Places {
//!     current: home.join("work"),
//!     temp: "/tmp".into(),
//!     config: home.join(".config/metier"),
//!     data: home.join(".local/share/metier"),
//!     user_skills: home.join(".config/metier/skills"),
//!     system_skills: home.join("etc/skills"),
//!     bundled: None,
//!     cache: None,
//!     remote: None,
//!     git_configs: Vec::new(),
//!     home: Some(home),
//! };
//! let layout = Layout::new(&places, &RootChoice::Usual);
//! let snapshot = Snapshot::load(Arc::new(layout), Include::Usual);
//!
//! assert_eq!((snapshot.loaded(), snapshot.failures().len()), (1, 0));
//! let (_, greet) = snapshot.entries().next().unwrap();
//! assert_eq!((greet.name().as_str(), greet.state()), ("greet", State::Ready));
//! assert_eq!(snapshot.root(greet).origin.to_string(), "user.claude");
//!
//! let catalogue = snapshot.catalogue(&snapshot.catalogue_options(None));
//! assert!(catalogue.text.ends_with("- **greet**: Greets people by name.\n"));
//! ```

mod bundled;
mod capability;
mod catalogue;
pub mod code;
mod code_file;
mod config;
mod crew;
mod declared_name;
mod disabled;
mod document;
mod entry;
mod explain;
mod identity;
mod layout;
mod lookup;
mod model_settings;
mod nearest;
mod offer;
mod origin;
mod place;
mod places;
mod plugin;
mod project;
mod reference;
mod remote;
mod root;
mod search;
mod settings;
mod shown;
mod snapshot;
mod source;
mod swap;
mod tokens;
mod touch;
mod trust;
mod version;
mod visit;
mod watch;

pub use bundled::{Bundled, BundledError};
pub use capability::{Capabilities, Script};
pub use catalogue::{
    Catalogue, CatalogueOptions, DEFAULT_BUDGET, Disclosure, EagerSection, Offer, Report, WINDOW_SHARE,
    budget, render,
};
pub use config::{
    Amount, AmountError, CatalogConfig, ChangesConfig, Config, DiscoveryConfig, Effort, EnvConfig,
    GateConfig, IgnoredFiles, LimitsConfig, LintConfig, LintPath, McpServerConfig, McpTransport, ModelConfig,
    NeedsConfig, PriceConfig, Protocol, ProviderConfig, RootConfig, SkillConfig, ToolSupport, Visibility,
};
pub use crew::Crew;
pub use declared_name::DeclaredName;
pub use disabled::{DISABLED_FILE, DisabledError, Switch, switch};
pub use document::{MAX_DOCUMENT, SkillFile};
pub use entry::{Entry, EntryId, Relation, State};
pub use explain::{
    ExplainedFailure, ExplainedSkill, Explanation, InCatalogue, Parsing, Reason, Searched, Tools, Verdict,
};
pub use layout::{Layout, RootChoice};
pub use lookup::{Lookup, Unresolved};
pub use model_settings::{
    DEFAULT_CALLS, DEFAULT_TOKENS, DEFAULT_TURNS, DefaultModel, LimitsError, ModelSettings,
};
pub use offer::{Cost, MAX_NAME_ENUM};
pub use origin::{Class, Origin};
pub use places::Places;
pub use plugin::Plugin;
pub use project::Project;
pub use reference::{Reference, ReferenceError};
pub use remote::{
    Approval, Fetch, NotBrought, Remote, RemoteFile, RemoteRefusal, RemoteServer, RemoteSkill, Wanted,
};
pub use root::{AllowedTools, CommandsStart, Root, RootTrust};
pub use search::{
    Finder, Offered, Route, Routed, RoutingRecord, RoutingStats, SHORTLIST_BUDGET, SHORTLIST_LENGTH,
    Shortlist, Synced,
};
pub use settings::{ConfigFile, GateLayer, LayerOwner, LintLayer, Settings};
pub use shown::one_line;
pub use snapshot::{Failure, Include, NotRead, Snapshot};
pub use source::{Provenance, SOURCE_FILE};
pub use swap::Catalog;
pub use tokens::{BYTES_PER_TOKEN, Tokens};
pub use touch::files_named;
pub use trust::{
    AGENT_FOLDERS, ApprovalRecord, Detail, EntryDigest, ExactName, Ownership, Preview, ProjectFile,
    ProjectRecord, ProjectTrust, RULE_FILES, ReadRules, SERVER_FILES, SkillPreview, Standing, TrustChange,
    TrustDiff, TrustEntry, TrustError, TrustItem, TrustKind, TrustStore, exact_path, files_below,
    is_listed_definition, trusts_definition,
};
pub use version::{Requirement, Version};
pub use watch::{Change, ChangeKind, News, WatchOptions, Watcher, Watching};
