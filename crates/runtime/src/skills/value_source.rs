//! Where the values of variables and secrets come from.

use metier_catalog::{DeclaredName, Entry, Snapshot};
use metier_exec::DeclaredEnvironment;
use metier_secret::{Secret, SecretName};

/// Why a [`ValueSource`] has no values.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// Where a program keeps what it gives to skills by name. Without one a skill gets what the builder was told.
pub trait ValueSource: Send + Sync {
    /// The value of a variable of the user's environment.
    fn variable(&self, name: &str) -> Option<String>;

    /// Whether a secret of this name is kept for any skill.
    fn keeps(&self, name: &str) -> bool;

    /// The secrets of one skill, or why they cannot be read. A session asks once for each skill, when a process of it wants
    /// one, and again after its user spoke.
    fn secrets(&self, snapshot: &Snapshot, entry: &Entry) -> Result<SkillSecrets, SourceError>;

    /// The declared names with the values that this source has for them. Of a sensitive one it is enough that a secret of that
    /// name is kept: its value is read for the skill that gets it.
    fn declared_environment(&self, declared: &[DeclaredName]) -> DeclaredEnvironment {
        DeclaredEnvironment::of(declared, |name| {
            let is_kept = || {
                let is_sensitive = declared.iter().any(|known| known.name == name && known.config.sensitive);
                (is_sensitive && self.keeps(name)).then(|| name.to_owned())
            };
            self.variable(name).filter(|value| !value.is_empty()).or_else(is_kept)
        })
    }
}

/// The secrets of one skill.
#[derive(Debug, Default)]
pub struct SkillSecrets {
    /// The secrets by name.
    pub secrets: Vec<(SecretName, Secret)>,
    /// What the user should know about where they are kept, a sentence each.
    pub notes: Vec<String>,
}
