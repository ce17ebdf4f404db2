//! What trusting a project would switch on.

use super::item::{Detail, TrustItem};
use super::project_file::{ProjectFile, is_looked_at, project_files};
use super::skill::{link_entry, skill_place};
use super::{TrustEntry, TrustKind, exact_path};
use crate::capability::Capabilities;
use crate::entry::Entry;
use crate::layout::Layout;
use crate::origin::{Class, Origin};
use crate::place::below;
use crate::snapshot::{Include, Snapshot};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Everything that trust in a project would switch on.
#[derive(Clone, Debug, Serialize)]
pub struct Preview {
    /// The project's folder, a real path.
    pub project: PathBuf,
    /// Its skills, by precedence and path.
    pub skills: Vec<SkillPreview>,
    /// Its files that would be acted on, by path.
    pub files: Vec<ProjectFile>,
    /// Its links by which skills of yours are found in the project as well.
    pub links: Vec<TrustItem>,
    /// Where skills of the project are looked for from here, so that it is known what a record could not see.
    #[serde(skip)]
    pub(super) roots: Vec<String>,
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
    /// The same, as it is recorded: the skill itself first.
    pub acts: Vec<TrustItem>,
}

impl SkillPreview {
    fn of(snapshot: &Snapshot, entry: &Entry) -> Self {
        let capabilities = snapshot.capabilities(entry);
        Self {
            name: entry.name().to_string(),
            origin: snapshot.root(entry).origin.clone(),
            path: skill_place(snapshot.layout(), entry),
            acts: snapshot.trust_items(entry, &capabilities),
            capabilities,
        }
    }
}

impl Preview {
    /// Reads what the project of a layout would switch on; `None` without a project. The whole folder of each of its skills is
    /// read, and so are the roots that it would add.
    pub fn of(layout: &Layout) -> Option<Self> {
        layout.project.as_ref()?;
        let snapshot = &Snapshot::load(Arc::new(layout.assuming_trust()), Include::Usual);
        let layout = snapshot.layout();
        let project = layout.project.as_ref()?;
        let is_project = |entry: &&Entry| snapshot.root(entry).origin.class == Class::Project;
        let skills = snapshot.entries().map(|(_, entry)| entry).filter(is_project);
        let roots = layout.roots.iter().filter(|root| root.origin.class == Class::Project);
        Some(Self {
            project: project.folder.clone(),
            skills: skills.map(|entry| SkillPreview::of(snapshot, entry)).collect(),
            files: project_files(layout),
            links: links(snapshot),
            roots: roots.map(|root| exact_path(&project.folder, &root.path)).collect(),
        })
    }

    /// Everything in one list.
    pub fn items(&self) -> impl Iterator<Item = &TrustItem> {
        self.all_items().filter(|item| !item.is_absence)
    }

    /// The same with the items for missing things.
    pub(super) fn all_items(&self) -> impl Iterator<Item = &TrustItem> {
        let files = self.files.iter().flat_map(|file| &file.acts);
        let skills = self.skills.iter().flat_map(|skill| &skill.acts);
        files.chain(skills).chain(&self.links)
    }

    /// Whether a thing of the record would be among these if it were still there. What lies in a folder that is not read
    /// from here is not gone: the user's current folder is in another part of the project.
    pub(super) fn could_see(&self, entry: &TrustEntry) -> bool {
        let place = entry.name.place.as_str();
        let is_below = |root: &String| {
            place.strip_prefix(root.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match entry.kind {
            TrustKind::Skill
            | TrustKind::Code
            | TrustKind::Command
            | TrustKind::Hooks
            | TrustKind::Tools
            | TrustKind::Need
            | TrustKind::Link
            | TrustKind::Runner => self.roots.iter().any(is_below),
            TrustKind::Model => place == "metier.toml" || self.roots.iter().any(is_below),
            TrustKind::Agent | TrustKind::Server => {
                is_looked_at(place) || self.files.iter().any(|file| file.path == place)
            }
            _ => true,
        }
    }
}

/// The links of the project's roots by which skills of others are found.
fn links(snapshot: &Snapshot) -> Vec<TrustItem> {
    let mut items = Vec::new();
    for (_, entry) in snapshot.entries() {
        for (root, folder) in snapshot.linked(entry) {
            if root.origin.class != Class::Project {
                continue;
            }
            let (place, leads_to) = (below(&root.path, &folder), snapshot.folder(entry));
            let linked = link_entry(snapshot.layout(), &place, &leads_to);
            let what = format!("link `{}`", super::item::shown(&linked.name.place));
            let detail = Detail::new(format!("leads to the skill in {}", leads_to.display()));
            items.push(TrustItem::called(what, linked, vec![detail]));
        }
    }
    items
}
