//! Whose data a skill's scripts see.

use crate::surroundings::Surroundings;
use metier_catalog::{Class, Entry, Snapshot};
use metier_runtime::DataOwner;
use std::path::PathBuf;

/// The owner of a data folder, in words of its own.
///
/// The skills of a plugin have one folder together: that is what `CLAUDE_PLUGIN_DATA` means, and as long as scripts get one
/// folder only, it is the one that they count on. No origin has a colon in it, so a plugin never shares with a skill.
pub(crate) struct DataPlace {
    origin: String,
    name: String,
    project: Option<PathBuf>,
}

impl DataPlace {
    pub(crate) fn of(snapshot: &Snapshot, entry: &Entry, surroundings: &Surroundings) -> Self {
        let origin = &snapshot.root(entry).origin;
        let project = surroundings.layout.project.as_ref().filter(|_| origin.class == Class::Project);
        let project = project.map(|project| project.folder.clone());
        match snapshot.plugin(entry) {
            Some(plugin) => Self { origin: format!("{origin}:plugin"), name: plugin.name, project },
            None => Self { origin: origin.to_string(), name: entry.name().to_string(), project },
        }
    }

    pub(crate) fn owner(&self) -> DataOwner<'_> {
        DataOwner { origin: &self.origin, name: &self.name, project: self.project.as_deref() }
    }
}
