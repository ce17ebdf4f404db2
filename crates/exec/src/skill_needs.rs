//! What a skill needs beyond the default containment, by its own word and by the configuration.

use std::time::Duration;

use metier_catalog::{NeedsConfig, Origin, Settings};
use metier_secret::{Secret, SecretName};
use metier_skill::Manifest;

use crate::requested_grants::{DeclaredNeeds, RequestedGrants};

/// The longest that a skill or a model can ask a script or a command line to take. More is for the user to say.
pub const MAX_ASKED_TIME: Duration = Duration::from_mins(10);

/// What a skill needs, for every command that runs something for it.
#[derive(Clone, Debug, Default)]
pub struct SkillNeeds {
    /// What is wanted. Which of it the user's configuration gives is a matter of the rules in force.
    pub grants: RequestedGrants,
    /// How long a script may take, if somebody says.
    pub seconds: Option<Duration>,
    /// What could not be read, a sentence each.
    pub problems: Vec<String>,
}

impl SkillNeeds {
    /// Adds what the skill declares, then what the configuration says for it.
    pub fn add(
        &mut self,
        (name, origin): (&str, &Origin),
        manifest: Option<&Manifest>,
        settings: &Settings,
        value: &mut dyn FnMut(&SecretName) -> Option<Secret>,
    ) {
        let seconds = |seconds: std::num::NonZeroU32| Duration::from_secs(seconds.get().into());
        if let Some(needs) = manifest.and_then(|manifest| manifest.more.needs.as_ref()) {
            let declared = DeclaredNeeds { hosts: &needs.hosts, write: &needs.write, env: &needs.env };
            self.problems.extend(self.grants.declare(&declared, value));
            self.seconds = needs.seconds.map(|own| seconds(own).min(MAX_ASKED_TIME));
        }
        for (needs, _) in settings.needs(name, origin) {
            let NeedsConfig { hosts, write, env, .. } = needs;
            self.problems.extend(self.grants.declare(&DeclaredNeeds { hosts, write, env }, value));
            self.seconds = needs.seconds.map(seconds).or(self.seconds);
        }
    }
}
