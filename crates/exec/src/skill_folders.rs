//! The folders of a skill: its own, what it keeps, and what the plugin or crew it belongs to has for all of its skills.

use std::io;
use std::path::{Path, PathBuf};

use metier_catalog::{BundledError, Class, Entry, NotBrought, Places, Plugin, Snapshot, Wanted};
use metier_files::{Kind, kind, real_path};

use crate::data_folder::DataOwner;
use crate::skill_group::{SkillGroup, SkillGroupKind};

/// The folders of a skill, absolute and without links on the way, all of them there but for a crew's `_data`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFolders {
    /// Its own.
    pub skill: PathBuf,
    /// What it keeps; none where nothing is kept.
    pub data: Option<PathBuf>,
    /// The plugin or crew it belongs to.
    pub plugin: Option<SkillGroup>,
    /// What the user should know about them.
    pub note: Option<String>,
}

/// Why a skill has no folders.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillFoldersError {
    /// It seems to come with the program, and is not as it came.
    #[error("`{name}` is not used: {source}")]
    NotAsItCame {
        /// Its name.
        name: String,
        /// What is other about it.
        source: BundledError,
    },
    /// It is a server's, and its file could not be had as it was listed.
    #[error(transparent)]
    NotBrought(#[from] NotBrought),
    /// Something is gone.
    #[error("{what} is gone: {source}")]
    Gone {
        /// What.
        what: String,
        /// Why.
        source: io::Error,
    },
    /// What it keeps has no place.
    #[error("the data folder of {whose} below {} cannot be made: {source}", base.display())]
    NoData {
        /// Whose.
        whose: String,
        /// Below which folder.
        base: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl SkillFolders {
    /// The folders of a skill; those below `base`, where data is kept, are made.
    pub fn make(snapshot: &Snapshot, entry: &Entry, base: Option<&Path>) -> Result<Self, SkillFoldersError> {
        let name = entry.name();
        // What comes with the program runs without a question, so it has to be what came.
        snapshot
            .verify_bundled(entry)
            .map_err(|source| SkillFoldersError::NotAsItCame { name: name.to_string(), source })?;
        // A server's skill has its folder from the moment that something of it is used.
        snapshot.bring(entry, Wanted::Document)?;
        let gone = |what: String| move |source| SkillFoldersError::Gone { what, source };
        let skill = real_path(&snapshot.folder(entry)).map_err(gone(format!("`{name}`")))?;
        let (origin, project) = (snapshot.root(entry).origin.to_string(), snapshot.owning_folder(entry));
        let own = DataOwner { origin: &origin, name: name.as_str(), project };
        let note = base.and_then(|base| left_behind(&own, base));
        let data = base.map(|base| made(&own, base, format!("`{name}`"))).transpose()?;
        let plugin = if let Some(crew) = snapshot.crew(entry) {
            let whose = format!("the crew `{}`", crew.name());
            let project = snapshot.layout().project.as_ref().map(|project| project.folder.as_path());
            // Two crews of a project may be called alike in two folders, so the whole path tells them apart.
            let name = crew.file.to_string_lossy();
            let owner = DataOwner { origin: "project:crew", name: &name, project };
            let folder = real_path(crew.folder()).map_err(gone(whose.clone()))?;
            let own = crew.data().file_name().map(|name| folder.join(name));
            let kind = own.map_or(SkillGroupKind::Plugin, |data| SkillGroupKind::Crew { data });
            let data = base.map(|base| made(&owner, base, whose)).transpose()?;
            Some(SkillGroup { folder, data, kind })
        } else if let Some(plugin) = shown_plugin(snapshot, entry) {
            let whose = format!("the plugin `{}`", plugin.name);
            // No origin has a colon in it, so a plugin never shares with a skill that is called like it.
            let origin = format!("{origin}:plugin");
            let owner = DataOwner { origin: &origin, name: &plugin.name, project };
            let folder = real_path(&plugin.folder).map_err(gone(whose.clone()))?;
            let data = base.map(|base| made(&owner, base, whose)).transpose()?;
            Some(SkillGroup { folder, data, kind: SkillGroupKind::Plugin })
        } else {
            None
        };
        Ok(Self { skill, data, plugin, note })
    }

    /// Where a skill keeps things, there or not.
    pub fn data_of(snapshot: &Snapshot, entry: &Entry, base: &Path) -> PathBuf {
        let origin = snapshot.root(entry).origin.to_string();
        let project = snapshot.owning_folder(entry);
        DataOwner { origin: &origin, name: entry.name().as_str(), project }.place(base)
    }
}

/// What is to be said when a skill of `--root` gets its own folder, where an earlier version had one folder for all of that
/// name. Nothing tells whose it was, so it is not taken over: a stranger's skill may have left a program in it.
fn left_behind(own: &DataOwner<'_>, base: &Path) -> Option<String> {
    let (old, new) = (DataOwner { project: None, ..*own }.place(base), own.place(base));
    let is_cli = own.origin == Class::Cli.word();
    (is_cli && kind(&new) == Kind::Missing && kind(&old) == Kind::Folder).then(|| {
        format!(
            "skills of each --root keep their data apart now; {} is not used, since nothing says which `{}` it belongs to. To keep it for this one: cp -r --no-preserve=ownership '{}/.' '{}'",
            old.display(),
            own.name,
            old.display(),
            new.display()
        )
    })
}

fn shown_plugin(snapshot: &Snapshot, entry: &Entry) -> Option<Plugin> {
    snapshot.plugin(entry).filter(|plugin| may_be_shown(&plugin.folder, &snapshot.layout().places))
}

fn made(owner: &DataOwner<'_>, base: &Path, whose: String) -> Result<PathBuf, SkillFoldersError> {
    let made = owner.make(base).and_then(|data| real_path(&data));
    made.map_err(|source| SkillFoldersError::NoData { whose, base: base.to_owned(), source })
}

/// Whether a folder can be a plugin's, whose scripts then read all of it. A manifest in the home, above it, or in a client's
/// own folder such as `~/.claude` would show them what is not the plugin's: keys, other skills' data, conversations.
fn may_be_shown(folder: &Path, places: &Places) -> bool {
    let is_hidden = folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let holds = |path: &Path| path.starts_with(folder);
    !is_hidden && !places.home.as_deref().is_some_and(holds) && !holds(&places.data) && !holds(&places.config)
}
