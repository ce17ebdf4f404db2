//! What a skill's processes get beyond their containment, and what it requires: from the skill, the configuration, the program
//! and the user's secrets.

use std::borrow::Cow;

use metier_catalog::{Entry, EntryId, SkillFile};
use metier_exec::{
    DeclaredNeeds, MissingRequirement, RequestedGrants, RequirementContext, Requirements, SkillNeeds,
    Toolbox, Variable, VariableState, VariableValue,
};
use metier_policy::Need;
use metier_secret::{Secret, SecretName};

use super::{SkillSession, UseError};
use crate::skills::engine::lock;
use crate::skills::value_source::ValueSource;

impl SkillSession {
    /// What a skill asks for beyond the default containment, and how long its scripts may take. Fails where its secrets cannot be
    /// read: a script must not run without what it was given.
    pub(super) fn needs(
        &self,
        entry: &Entry,
        file: &SkillFile,
        given: &DeclaredNeeds<'_>,
    ) -> Result<SkillNeeds, UseError> {
        let mut needs = SkillNeeds::default();
        let mut failed = None;
        let mut secret = |name: &SecretName| {
            self.secret(entry, name).unwrap_or_else(|error| {
                failed = Some(error);
                None
            })
        };
        self.declared.give(&mut needs.grants, &file.source, file.manifest(), &mut secret);
        for Variable { name, value } in &self.engine.program.variables {
            // What a body may name its processes see as well.
            if let (VariableValue::Text(text), Ok(name)) = (value, name.parse()) {
                needs.grants.set(name, text);
            }
        }
        let settings = &self.snapshot().layout().settings;
        let who = (entry.name().as_str(), &self.snapshot().root(entry).origin);
        needs.add(who, file.manifest(), settings, &mut secret);
        let named = self.snapshot().entries().filter(|(_, other)| other.name() == entry.name());
        let origins: Vec<_> = named.map(|(_, other)| &self.snapshot().root(other).origin).collect();
        if let Some(file) = settings.unused_needs(who.0, who.1, &origins) {
            let (name, origin) = who;
            needs.problems.push(format!(
                "`[skills.{name}.needs]` in {} is not used: a name alone means your own skills; for this one write `[skills.\"{origin}:{name}\".needs]`",
                file.display()
            ));
        }
        // What the program's user says wrongly is an error, not a note: they are there to correct it.
        if let Some(problem) = needs.grants.declare(given, &mut secret).into_iter().next() {
            return Err(UseError::Need(problem));
        }
        if let Some(error) = failed {
            return Err(error);
        }
        needs.problems.extend(self.declared.problems().iter().cloned());
        let secrets = lock(&self.secrets);
        let notes = secrets.get(&self.snapshot().folder(entry)).map(|known| known.notes.as_slice());
        needs.problems.extend(notes.unwrap_or_default().iter().cloned());
        Ok(needs)
    }

    /// A secret of a skill: its own, one that the program gives to all, else a variable of the user's. One that is too short to
    /// be hidden is not given.
    fn secret(&self, entry: &Entry, name: &SecretName) -> Result<Option<Secret>, UseError> {
        if let Some(secret) = self.kept_secret(entry, name.as_str())? {
            return Ok(Some(secret));
        }
        let values = self.engine.program.values.as_ref();
        let value = values.and_then(|values| values.variable(name.as_str()));
        Ok(value.and_then(|value| Secret::new(value).ok()))
    }

    fn kept_secret(&self, entry: &Entry, name: &str) -> Result<Option<Secret>, UseError> {
        let folder = self.snapshot().folder(entry);
        let mut known = lock(&self.secrets);
        if !known.contains_key(&folder) {
            let failed = |source| UseError::Secrets { name: entry.name().to_string(), source };
            known.insert(folder.clone(), self.engine.secrets(self.snapshot(), entry).map_err(failed)?);
        }
        let secrets = known.get(&folder).map(|known| known.secrets.as_slice()).unwrap_or_default();
        Ok(secrets.iter().find(|(known, _)| known.as_str() == name).map(|(_, secret)| secret.clone()))
    }

    /// The names that a body may use: secrets of the skill, which are never put into text, then the program's own, then those
    /// that the configuration declares.
    pub(super) fn variables(&self, grants: &RequestedGrants) -> Vec<Variable> {
        let names = grants.needs().into_iter().filter_map(|need| match need {
            Need::Secret(name) => Some(name),
            _ => None,
        });
        let secrets = names.map(|name| Variable { name, value: VariableValue::Sensitive });
        let own = self.engine.program.variables.iter().cloned();
        secrets.chain(own).chain(self.declared.variables().iter().cloned()).collect()
    }

    /// The programs that a skill's processes may call. One that it requires by name is shown like those of every script.
    pub(super) fn toolbox(&self, file: &SkillFile) -> Cow<'_, Toolbox> {
        match file.manifest().and_then(|manifest| manifest.more.requires.as_ref()) {
            Some(requires) => Cow::Owned(self.engine.path.usual_toolbox(&Requirements::programs(requires))),
            None => Cow::Borrowed(self.engine.toolbox()),
        }
    }

    /// What a skill requires and its scripts would not find. Its secrets are looked up only where it requires a variable: a
    /// keyring may have to be opened.
    pub fn missing(&self, id: EntryId) -> Vec<MissingRequirement> {
        let Some(entry) = self.snapshot().entry(id) else { return Vec::new() };
        let Ok(file) = self.snapshot().read(entry) else { return Vec::new() };
        let requires = file.manifest().and_then(|manifest| manifest.more.requires.as_ref());
        let needs = match requires {
            Some(requires) if !requires.env.is_empty() => self.needs(entry, &file, &DeclaredNeeds::default()),
            _ => Ok(SkillNeeds::default()),
        };
        self.missing_with(entry, &file, &needs.unwrap_or_default().grants)
    }

    /// The same for what its processes would get.
    pub(super) fn missing_with(
        &self,
        entry: &Entry,
        file: &SkillFile,
        grants: &RequestedGrants,
    ) -> Vec<MissingRequirement> {
        let Some(requires) = file.manifest().and_then(|manifest| manifest.more.requires.as_ref()) else {
            return Vec::new();
        };
        let variable = |name: &str| {
            let is = |known: &SecretName| known.as_str() == name;
            if grants.secrets().any(|(known, _)| is(known)) || grants.texts().any(|(known, _)| is(known)) {
                return VariableState::Yes;
            }
            let is_set = || {
                self.engine.program.values.as_ref().is_some_and(|values| values.variable(name).is_some())
                    || self.kept_secret(entry, name).is_ok_and(|kept| kept.is_some())
            };
            // One that is wanted would have been given.
            if !grants.missing().any(is) && is_set() { VariableState::NotAsked } else { VariableState::Unset }
        };
        let path = &self.engine.path;
        let here =
            RequirementContext { path, variable: &variable, system: std::env::consts::OS, tools: None };
        Requirements { skill: entry.name().as_str(), requires }.check(&here)
    }
}
