//! What a configuration says about changes of the project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What becomes of changes that contained commands make in the project. Only the user's own file is heard on this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChangesConfig {
    /// What becomes of files that git ignores and of caches: `keep` (the default) for the session, `apply` to the project without
    /// a question, or `discard` after each call.
    pub ignored: IgnoredFiles,
    /// How many MiB the changes of one call may take before the call is stopped; 2048 if it is not set.
    pub max_mib: Option<u64>,
    /// How many files and folders one call may change before it is stopped; 200000 if it is not set.
    pub max_files: Option<u64>,
}

/// What becomes of ignored and cache files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IgnoredFiles {
    /// Later calls of the session see them, and the project does not get them.
    #[default]
    Keep,
    /// They are applied to the project without a question.
    Apply,
    /// They are forgotten after the call.
    Discard,
}
