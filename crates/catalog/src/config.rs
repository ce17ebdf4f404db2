//! `config.toml` and `metier.toml`: what a user, or a project, says about roots, visibility, the catalogue and models.
//!
//! The types here are the settings' reference page: [`Config::schema`] is printed from them. Reading is in
//! [`read`] and forgives: one bad value costs that value.

mod amount;
mod changes;
mod mcp;
mod model;
mod read;

pub use amount::{Amount, AmountError};
pub use changes::{ChangesConfig, IgnoredFiles};
pub use mcp::{McpServerConfig, McpTransport};
pub use model::{Effort, LimitsConfig, ModelConfig, PriceConfig, Protocol, ProviderConfig, ToolSupport};

use crate::catalogue::Disclosure;
use crate::root::{AllowedTools, CommandsStart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroU32};

/// The settings of metier. The user's file is `config.toml` in metier's folder, a project's is `metier.toml`; both have
/// the same settings. What a project says beyond hiding skills holds only once the project is trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "metier configuration")]
pub struct Config {
    /// More folders in which to look for skills.
    pub roots: Vec<RootConfig>,
    /// Settings of single skills, by name or by `origin:name`.
    pub skills: BTreeMap<String, SkillConfig>,
    /// What the model sees first.
    pub catalog: CatalogConfig,
    /// How far the search for skills goes.
    pub discovery: DiscoveryConfig,
    /// Which findings of `metier check` count.
    pub lint: LintConfig,
    /// What may happen, and what is asked about.
    pub gate: GateConfig,
    /// Environment names that skills may write as `${env:NAME}`, and that their processes see.
    pub env: BTreeMap<String, EnvConfig>,
    /// Whether the skills that come with metier are among the roots. They are, unless this is `false`.
    pub bundled: Option<bool>,
    /// The model that is asked unless the command line or a skill names another: a name of `[models]`, `provider/model`, or `offline` for none.
    pub model: Option<String>,
    /// Names for models, with what is known about each. A project's hold once it is trusted.
    pub models: BTreeMap<String, ModelConfig>,
    /// Who has models, beside the built-in ones. Heard in the user's own file only: a key goes to no address that a project
    /// names.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// How much one request may use up.
    pub limits: LimitsConfig,
    /// MCP servers by their labels. Heard in the user's own file only: a project names its servers in `.mcp.json`.
    pub mcp: BTreeMap<String, McpServerConfig>,
    /// What becomes of changes that commands make in the project. Heard in the user's own file only.
    pub changes: ChangesConfig,
}

/// What may happen, and what is asked about. A rule is a text such as `skill:NAME`, `skill:NAME/host:api.example.com`,
/// `command:git:*` or `mcp:SERVER/TOOL`. A rule in `deny` counts before everything else, one in `ask` before one in `allow`.
/// What a project says here narrows at once and widens only once the project is trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GateConfig {
    /// What holds where no rule says anything: `ask` (the default), `strict`, `allow`, `plan` or `yolo`.
    pub mode: Option<String>,
    /// Rules for what happens without a question.
    pub allow: Vec<String>,
    /// Rules for what is asked about each time.
    pub ask: Vec<String>,
    /// Rules for what never happens.
    pub deny: Vec<String>,
    /// Why a part of this could not be read. A deny rule may have been in it, so whoever decides must not take the rest
    /// for the whole.
    #[serde(skip)]
    #[schemars(skip)]
    pub incomplete: Option<String>,
}

/// Which findings of `metier check` count. A finding is named by its code. What is said for a path counts before what is
/// said for all, and the project's word before the user's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LintConfig {
    /// Codes that are not reported.
    pub allow: Vec<String>,
    /// Codes that are warnings, whatever they are by default.
    pub warn: Vec<String>,
    /// Codes that are errors, whatever they are by default.
    pub deny: Vec<String>,
    /// The same for some files only.
    pub paths: Vec<LintPath>,
}

/// Which findings count below a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LintPath {
    /// The files: a glob, seen from the project's folder. A folder means all that is below it.
    pub path: String,
    /// Codes that are not reported there.
    pub allow: Vec<String>,
    /// Codes that are warnings there.
    pub warn: Vec<String>,
    /// Codes that are errors there.
    pub deny: Vec<String>,
}

/// One more folder in which to look for skills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RootConfig {
    /// The folder. `~` is the home directory; a relative path is seen from the folder of this file.
    pub path: String,
    /// How deep folders that group skills are walked; 1 finds `NAME/SKILL.md` only.
    #[serde(default)]
    pub depth: Option<NonZeroU16>,
    /// Globs of folders to leave out, relative to the root: `drafts`, `**/old-*`.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Whether a skill's own folder is searched for more skills.
    #[serde(default)]
    pub nested: bool,
    /// What a skill's `allowed-tools` means: only these may be called (`fence`), these need no question (`grant`),
    /// `both`, or neither (`advisory`).
    #[serde(default)]
    pub allowed_tools: Option<AllowedTools>,
    /// Where the commands in a skill's text start: in the `project`, which is the default but for agentmd's folders, or in
    /// the `skill`'s own folder.
    #[serde(default)]
    pub commands: Option<CommandsStart>,
}

/// An environment name that skills may write as `${env:NAME}`. Its value is that of metier's own environment. What a
/// project declares is heard once the project is trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EnvConfig {
    /// Whether nothing is started while it is not set.
    pub required: bool,
    /// What it is where it is not set.
    pub default: Option<String>,
    /// Whether it is a secret: then it is never put into text, and only the processes of a skill that names it and gets a
    /// yes see it.
    pub sensitive: bool,
    /// What it is for, told where it is missing.
    pub description: Option<String>,
}

/// Settings of one skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SkillConfig {
    /// Who is offered the skill.
    pub visibility: Option<Visibility>,
    /// What its scripts get beyond the default containment. In the user's own configuration that is a yes as well.
    pub needs: NeedsConfig,
    /// Where its scripts start: in the `project` or in the `skill`'s own folder. Without it they start in the user's current folder
    /// where that is in the project, else in the skill's.
    pub start: Option<CommandsStart>,
}

/// What a skill's scripts get beyond the default containment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NeedsConfig {
    /// Hosts they may reach: `api.example.com`, `*.example.com`, with a port or without.
    pub hosts: Vec<String>,
    /// Globs of the project that they may write, such as `docs/**`.
    pub write: Vec<String>,
    /// Names of variables that they see: a secret of the skill's, else the user's own.
    pub env: Vec<String>,
    /// How long one may take.
    pub seconds: Option<NonZeroU32>,
}

metier_diagnostic::words! {
    /// Who is offered a skill, from nobody to everybody: the order is used to tell whether a setting narrows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Visibility {
        /// Nobody: it is not used at all.
        Off = "off",
        /// The user alone; the model is not told of it.
        UserOnly = "user-only",
        /// The model sees its name without the description.
        NameOnly = "name-only",
        /// The model sees it in full.
        On = "on",
    }
}

/// What the model sees first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CatalogConfig {
    /// The most tokens the catalogue may take. Without it, 2 % of `window`; without that too, 4,000.
    pub budget: Option<usize>,
    /// The model's window in tokens, of which the catalogue may take 2 %.
    pub window: Option<usize>,
    /// How skills are listed: `markdown`, `xml`, or `eager` (every skill's whole text, for small sets and for models
    /// without tools). `format` means the same.
    #[serde(alias = "format")]
    pub disclosure: Option<Disclosure>,
}

/// How far the search for skills goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DiscoveryConfig {
    /// How deep folders that group skills are walked below each root. The default is 10.
    pub depth: Option<NonZeroU16>,
    /// How many files and folders are looked at in all roots together. The default is 200,000.
    pub entries: Option<NonZeroU32>,
}

impl Config {
    /// The settings as a JSON Schema, with the sentences of this page.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }
}
