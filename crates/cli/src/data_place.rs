//! Where a skill's scripts keep things.

use crate::surroundings::Surroundings;
use anyhow::{Context, Result};
use metier_catalog::{Class, Entry, Plugin, Snapshot};
use metier_files::real_path;
use metier_runtime::DataOwner;
use std::io;
use std::path::{Path, PathBuf};

/// Whose data it is, in words of its own: the skill's, and beside it what the skills of its plugin share. What `prepare` makes
/// is the skill's.
pub(crate) struct DataPlace {
    origin: String,
    name: String,
    project: Option<PathBuf>,
    /// The folder below which all data folders are.
    base: PathBuf,
    plugin: Option<SharedPlace>,
}

/// The plugin that a skill is in.
struct SharedPlace {
    /// No origin has a colon in it, so a plugin never shares with a skill that is called like it.
    origin: String,
    plugin: Plugin,
}

/// The folders of a skill, absolute and without links on the way.
pub(crate) struct SkillFolders {
    pub(crate) skill: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) plugin: Option<PluginFolders>,
}

/// The folders of a plugin.
pub(crate) struct PluginFolders {
    pub(crate) folder: PathBuf,
    /// What its skills share.
    pub(crate) data: PathBuf,
}

impl DataPlace {
    pub(crate) fn of(snapshot: &Snapshot, entry: &Entry, surroundings: &Surroundings) -> Self {
        let origin = &snapshot.root(entry).origin;
        let project = surroundings.layout.project.as_ref().filter(|_| origin.class == Class::Project);
        let plugin = snapshot.plugin(entry).filter(|plugin| may_be_shown(&plugin.folder, surroundings));
        Self {
            origin: origin.to_string(),
            name: entry.name().to_string(),
            project: project.map(|project| project.folder.clone()),
            base: surroundings.places.data.join("skills"),
            plugin: plugin.map(|plugin| SharedPlace { origin: format!("{origin}:plugin"), plugin }),
        }
    }

    /// The skill's own folder, there or not.
    pub(crate) fn path(&self) -> PathBuf {
        self.owner().place(&self.base)
    }

    /// Makes the folders.
    pub(crate) fn make(&self, skill: PathBuf) -> Result<SkillFolders> {
        let make = |owner: DataOwner<'_>| {
            owner
                .make(&self.base)
                .and_then(|data| real_path(&data).map_err(io::Error::other))
                .with_context(|| format!("the data folder below {} cannot be made", self.base.display()))
        };
        let data = make(self.owner())?;
        let plugin = match &self.plugin {
            Some(SharedPlace { origin, plugin }) => Some(PluginFolders {
                folder: real_path(&plugin.folder)
                    .with_context(|| format!("the plugin `{}` is gone", plugin.name))?,
                data: make(DataOwner { origin, name: &plugin.name, project: self.project.as_deref() })?,
            }),
            None => None,
        };
        Ok(SkillFolders { skill, data, plugin })
    }

    fn owner(&self) -> DataOwner<'_> {
        DataOwner { origin: &self.origin, name: &self.name, project: self.project.as_deref() }
    }
}

/// Whether a folder can be a plugin's, whose scripts then read all of it. A manifest in the home, above it, or in a client's
/// own folder such as `~/.claude` would show them what is not the plugin's: keys, other skills' data, conversations.
fn may_be_shown(folder: &Path, surroundings: &Surroundings) -> bool {
    let places = &surroundings.places;
    let is_hidden = folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let holds = |path: &Path| path.starts_with(folder);
    !is_hidden && !places.home.as_deref().is_some_and(holds) && !holds(&places.data) && !holds(&places.config)
}
