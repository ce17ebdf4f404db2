//! The values that this user gives to skills: variables of the environment, and secrets.

use crate::command::secret;
use crate::environment;
use crate::surroundings::Surroundings;
use metier_catalog::{Entry, Snapshot};
use metier_runtime::{SkillSecrets, SourceError, ValueSource};
use metier_secret::Place;

/// Where this user's values are.
pub(crate) struct UserValues(pub(crate) Surroundings);

impl ValueSource for UserValues {
    fn variable(&self, name: &str) -> Option<String> {
        environment::variable(name)
    }

    fn keeps(&self, name: &str) -> bool {
        secret::vault(&self.0).list().is_ok_and(|list| list.iter().any(|kept| kept.name.as_str() == name))
    }

    fn secrets(&self, snapshot: &Snapshot, entry: &Entry) -> Result<SkillSecrets, SourceError> {
        let vault = secret::vault(&self.0);
        let notes = match vault.place() {
            Place::File { keyring: Some(why), .. } => {
                vec![format!("secrets in the keyring are not given: {why}")]
            }
            _ => Vec::new(),
        };
        let secrets = vault.of(&secret::owner(snapshot, entry))?;
        Ok(SkillSecrets { secrets, notes })
    }
}
