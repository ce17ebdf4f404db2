//! Whose secret it is.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// One skill, as far as secrets are concerned: where it comes from and what it is called.
///
/// A project's skill is meant in that project only, and one of `--root DIR` in that folder only. Two projects may each have
/// a `deploy`, and the one that was cloned yesterday must not get what the other one was given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// Origin and name, such as `user.claude:deploy`.
    skill: String,
    /// The folder in which alone it is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<PathBuf>,
}

impl Owner {
    /// The skill `name` from `origin`, such as `user.claude`.
    pub fn new(origin: &str, name: &str) -> Self {
        Self { skill: format!("{origin}:{name}"), folder: None }
    }

    /// The same, meant in this folder only: the project's, or the root that was named.
    #[must_use]
    pub fn within(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Origin and name, such as `user.claude:deploy`.
    pub fn skill(&self) -> &str {
        &self.skill
    }

    /// What the skill is called.
    pub fn name(&self) -> &str {
        self.skill.split_once(':').map_or(self.skill.as_str(), |(_, name)| name)
    }

    /// The folder in which alone it is meant.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.folder {
            Some(folder) => write!(f, "{} in {}", self.skill, folder.display()),
            None => f.write_str(&self.skill),
        }
    }
}
