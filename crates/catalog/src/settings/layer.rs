//! What one file says about skills.

use super::{ConfigFile, LayerOwner};
use crate::config::{SkillConfig, Visibility};
use crate::origin::{Class, Origin};
use crate::reference::Reference;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The settings of skills in one file, by name; those with an origin first, since they say more.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) owner: LayerOwner,
    pub(super) file: Arc<Path>,
    pub(super) rules: HashMap<String, Vec<(Option<Origin>, SkillConfig)>>,
}

impl Layer {
    pub(super) fn new(file: &ConfigFile, owner: LayerOwner) -> Self {
        let mut rules: HashMap<String, Vec<_>> = HashMap::new();
        for (name, skill) in &file.config.skills {
            let reference: Reference = name.parse().unwrap_or_else(|_| Reference::name(name.as_str()));
            let rules = rules.entry(reference.name).or_default();
            rules.push((reference.origin, skill.clone()));
            rules.sort_by_key(|(origin, _)| origin.is_none());
        }
        Self { owner, file: Arc::clone(&file.path), rules }
    }

    /// Whether a name without an origin means skills of an origin, where more is given than they have.
    pub(super) fn owns(&self, origin: &Origin) -> bool {
        match self.owner {
            // The same as `OWN_CLASSES` in `metier-policy`, for rules.
            LayerOwner::User => {
                matches!(origin.class, Class::User | Class::System | Class::Config | Class::Bundled)
            }
            LayerOwner::TrustedProject | LayerOwner::UntrustedProject => origin.class == Class::Project,
        }
    }

    /// What is said about a skill that widens, the most exact first. A name without an origin means skills of whoever wrote
    /// the file: a stranger's skill can have any name.
    pub(super) fn widening(&self, name: &str, origin: &Origin) -> impl Iterator<Item = &SkillConfig> {
        let is_own = self.owns(origin);
        let rules = self.rules.get(name).map_or(&[][..], Vec::as_slice).iter();
        rules
            .filter(move |(wanted, _)| wanted.as_ref().map_or(is_own, |wanted| origin.is_in(wanted)))
            .map(|(_, skill)| skill)
    }

    /// What is said about a skill, the most exact first.
    pub(super) fn about(&self, name: &str, origin: &Origin) -> impl Iterator<Item = &SkillConfig> {
        let rules = self.rules.get(name).map_or(&[][..], Vec::as_slice).iter();
        rules
            .filter(move |(wanted, _)| wanted.as_ref().is_none_or(|wanted| origin.is_in(wanted)))
            .map(|(_, skill)| skill)
    }

    pub(super) fn says(&self, name: &str, origin: &Origin) -> Option<Visibility> {
        self.about(name, origin).find_map(|skill| skill.visibility)
    }
}
