//! What a skill needs beyond the default containment, from everybody who has a say: the skill itself, the configuration
//! and the command line.

use crate::command::secret;
use crate::environment;
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::{Entry, SkillFile, Snapshot};
use metier_runtime::{Declared, DeclaredEnvironment, SkillNeeds, Wants};
use metier_secret::{Place, Secret, SecretName};
use metier_skill::Manifest;
use std::time::Duration;

/// Needs that the command line names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags<'a> {
    pub(crate) hosts: &'a [String],
    pub(crate) write: &'a [String],
    pub(crate) env: &'a [String],
}

/// Everything that is needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) wants: Wants,
    /// How long a script may take, if somebody says.
    pub(crate) seconds: Option<Duration>,
    /// What the command line gives of it, as rules.
    pub(crate) allowed: Vec<String>,
    /// What could not be read, a sentence each.
    pub(crate) problems: Vec<String>,
}

impl Needs {
    pub(crate) fn collect(
        snapshot: &Snapshot,
        entry: &Entry,
        manifest: Option<&Manifest>,
        flags: &Flags<'_>,
        surroundings: &Surroundings,
    ) -> Result<Self> {
        let (name, origin) = (entry.name().as_str(), &snapshot.root(entry).origin);
        let mut values = Values::new(snapshot, entry, surroundings);
        let mut value = |name: &SecretName| values.get(name);
        let mut said = SkillNeeds::default();
        said.add((name, origin), manifest, &surroundings.layout.settings, &mut value);
        let SkillNeeds { wants, seconds, problems } = said;
        let mut needs = Self { wants, seconds, problems, allowed: Vec::new() };
        let given = Declared { hosts: flags.hosts, write: flags.write, env: flags.env };
        // What the command line says wrongly is an error, not a note: the user is here to mend it.
        if let Some(problem) = needs.wants.declare(&given, &mut value).into_iter().next() {
            anyhow::bail!("{problem}");
        }
        needs.allow(name, origin, &given);
        needs.problems.extend(values.finish()?);
        Ok(needs)
    }

    /// Adds what the configuration declares for all skills, as far as this one gets it.
    pub(crate) fn take(
        &mut self,
        declared: &DeclaredEnvironment,
        file: &SkillFile,
        snapshot: &Snapshot,
        entry: &Entry,
        surroundings: &Surroundings,
    ) -> Result<()> {
        let mut values = Values::new(snapshot, entry, surroundings);
        declared.give(&mut self.wants, &file.source, file.manifest(), &mut |name| values.get(name));
        self.problems.extend(declared.problems().iter().cloned());
        self.problems.extend(values.finish()?);
        Ok(())
    }

    fn allow(&mut self, name: &str, origin: &metier_catalog::Origin, declared: &Declared<'_>) {
        for (word, texts) in [("host", declared.hosts), ("write", declared.write), ("secret", declared.env)] {
            self.allowed.extend(texts.iter().map(|text| format!("skill:{origin}:{name}/{word}:{text}")));
        }
    }
}

/// Where the value of a variable comes from: the skill's own secrets, else the user's environment.
struct Values<'a> {
    known: Option<Vec<(SecretName, Secret)>>,
    /// What is to be said about where they are.
    problems: Vec<String>,
    /// Why they could not be read, if so. Whoever asks for one cannot be told, so it is told at the end.
    failed: Option<anyhow::Error>,
    snapshot: &'a Snapshot,
    entry: &'a Entry,
    surroundings: &'a Surroundings,
}

impl<'a> Values<'a> {
    fn new(snapshot: &'a Snapshot, entry: &'a Entry, surroundings: &'a Surroundings) -> Self {
        Self { known: None, problems: Vec::new(), failed: None, snapshot, entry, surroundings }
    }

    /// A value, where there is one and it could be read.
    fn get(&mut self, name: &SecretName) -> Option<Secret> {
        self.read(name).unwrap_or_else(|error| {
            self.failed = Some(error);
            None
        })
    }

    /// What is to be said about the values that were asked for.
    fn finish(self) -> Result<Vec<String>> {
        match self.failed {
            Some(error) => {
                Err(error.context(format!("the secrets of `{}` cannot be read", self.entry.name())))
            }
            None => Ok(self.problems),
        }
    }

    fn read(&mut self, name: &SecretName) -> Result<Option<Secret>> {
        let known = if let Some(known) = &self.known {
            known
        } else {
            let owner = secret::owner(self.snapshot, self.entry);
            let vault = secret::vault(self.surroundings);
            if let Place::File { keyring: Some(why), .. } = vault.place() {
                self.problems.push(format!("secrets in the keyring are not given: {why}"));
            }
            self.known.insert(vault.of(&owner)?)
        };
        if let Some((_, secret)) = known.iter().find(|(known, _)| known == name) {
            return Ok(Some(secret.clone()));
        }
        // One that is too short to be hidden is not given either.
        Ok(environment::variable(name.as_str()).and_then(|value| Secret::new(value).ok()))
    }
}
