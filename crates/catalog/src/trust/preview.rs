//! What trusting a project would switch on.

use super::project_file::{ProjectFile, project_files};
use crate::capability::Capabilities;
use crate::entry::Entry;
use crate::origin::{Class, Origin};
use crate::snapshot::Snapshot;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Everything that trust in a project would switch on.
#[derive(Clone, Debug, Serialize)]
pub struct Preview {
    /// The project's folder, a real path.
    pub project: PathBuf,
    /// Its skills, by precedence and path.
    pub skills: Vec<SkillPreview>,
    /// Its files that would be acted on, by path.
    pub files: Vec<ProjectFile>,
}

/// What one skill could do.
#[derive(Clone, Debug, Serialize)]
pub struct SkillPreview {
    /// The name it is called by.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Its folder, relative to the project where it lies in it.
    pub path: String,
    /// What it could do.
    pub capabilities: Capabilities,
}

impl Preview {
    /// Reads what the project of a snapshot holds; `None` without a project. The whole folder of each of its skills is
    /// read.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let project = snapshot.layout().project.as_ref()?;
        let skills = project_skills(snapshot).map(|entry| SkillPreview {
            name: entry.name().to_string(),
            origin: snapshot.root(entry).origin.clone(),
            path: key(snapshot, entry),
            capabilities: capabilities(snapshot, entry),
        });
        Some(Self {
            project: project.folder.clone(),
            skills: skills.collect(),
            files: project_files(project),
        })
    }

    /// The capabilities to record: those of skills that have any.
    pub(super) fn capabilities(&self) -> BTreeMap<String, Capabilities> {
        let able = self.skills.iter().filter(|skill| !skill.capabilities.is_empty());
        able.map(|skill| (skill.path.clone(), skill.capabilities.clone())).collect()
    }

    /// The acts to record.
    pub(super) fn acts(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let acts =
            |file: &ProjectFile| file.acts.iter().map(|act| (act.what.clone(), act.digest.clone())).collect();
        self.files.iter().map(|file| (file.path.clone(), acts(file))).collect()
    }
}

/// The skills that are the project's, whatever their state.
pub(super) fn project_skills(snapshot: &Snapshot) -> impl Iterator<Item = &Entry> {
    let is_project = |entry: &&Entry| snapshot.root(entry).origin.class == Class::Project;
    snapshot.entries().map(|(_, entry)| entry).filter(is_project)
}

/// What a skill is recorded under.
pub(super) fn key(snapshot: &Snapshot, entry: &Entry) -> String {
    let folder = snapshot.folder(entry);
    let project = snapshot.layout().project.as_ref().map_or(Path::new(""), |project| &project.folder);
    folder.strip_prefix(project).unwrap_or(&folder).to_string_lossy().into_owned()
}

/// What a skill can do now. One whose folder cannot be read has something that cannot be compared, and so is never
/// taken for unchanged.
pub(super) fn capabilities(snapshot: &Snapshot, entry: &Entry) -> Capabilities {
    let read = || {
        let folder = snapshot.open(entry)?;
        Capabilities::of(&folder, &snapshot.read(entry)?)
    };
    read().unwrap_or_else(|error| Capabilities::unreadable(&error))
}
